#!/bin/sh
# `executor` is how Spark starts its executors in pods; everything else is for penstock.
set -eu
if [ "${1:-}" != executor ]; then
    exec penstock "$@"
fi
home=$(python -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
set -- "${JAVA_HOME:+$JAVA_HOME/bin/}java"
# SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1, ... hold an option each.
number=0
while eval "option=\${SPARK_JAVA_OPT_$number:-}" && [ -n "$option" ]; do
    set -- "$@" "$option"
    number=$((number + 1))
done
exec "$@" \
    -Xms"$SPARK_EXECUTOR_MEMORY" -Xmx"$SPARK_EXECUTOR_MEMORY" \
    -cp "${SPARK_CLASSPATH:+$SPARK_CLASSPATH:}$home/jars/*" \
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
    --driver-url "$SPARK_DRIVER_URL" \
    --executor-id "$SPARK_EXECUTOR_ID" \
    --cores "$SPARK_EXECUTOR_CORES" \
    --app-id "$SPARK_APPLICATION_ID" \
    --hostname "$SPARK_EXECUTOR_POD_IP" \
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \
    --podName "$SPARK_EXECUTOR_POD_NAME"
