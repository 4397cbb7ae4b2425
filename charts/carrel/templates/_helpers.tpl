{{- define "carrel.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that select a program's pods: immutable in a Deployment. Call with (list $ "operator"). */}}
{{- define "carrel.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: carrel
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "carrel.labels" -}}
{{- $root := index . 0 -}}
{{ include "carrel.selectorLabels" . }}
app.kubernetes.io/part-of: carrel
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Without the chart's version: a new chart of the same image must not restart the pods. */}}
{{- define "carrel.podLabels" -}}
{{ include "carrel.selectorLabels" . }}
app.kubernetes.io/part-of: carrel
{{- with (index . 0).Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "carrel.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{/* host:port of Redis: the dependency's, or what is set. With the namespace, since tenants in others read it too. */}}
{{- define "carrel.redisAddress" -}}
{{- if and .Values.dependencies.valkey.enabled (not .Values.redis.address) -}}
{{ include "carrel.fullname" . }}-valkey.{{ .Release.Namespace }}:6379
{{- else -}}
{{ required "redis.address is missing. Set it to host:port of Redis as tenants connect to it (docs/operate/install.md)." .Values.redis.address }}
{{- end -}}
{{- end -}}

{{- define "carrel.s3Endpoint" -}}
{{- if and .Values.dependencies.versitygw.enabled (not .Values.objectStore.endpoint) -}}
http://{{ include "carrel.fullname" . }}-versitygw.{{ .Release.Namespace }}:7070
{{- else -}}
{{ required "objectStore.endpoint is missing. Set it to the address of the S3 store, https://host:port (docs/operate/install.md)." .Values.objectStore.endpoint }}
{{- end -}}
{{- end -}}

{{- define "carrel.s3AdminEndpoint" -}}
{{- if and .Values.dependencies.versitygw.enabled (not .Values.objectStore.endpoint) -}}
http://{{ include "carrel.fullname" . }}-versitygw.{{ .Release.Namespace }}:7071
{{- else -}}
{{ .Values.objectStore.adminEndpoint }}
{{- end -}}
{{- end -}}

{{/* The restricted pod security standard. 65532 is the image's user. */}}
{{- define "carrel.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "carrel.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Where the pods of a program run. Call with (list $ "operator" $values). */}}
{{- define "carrel.scheduling" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $values := index . 2 -}}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if $values.topologySpreadConstraints }}
  {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "carrel.selectorLabels" (list $root $program) | nindent 8 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* Where the certificate authorities are that the installation trusts beside the public ones; empty: there are none. */}}
{{- define "carrel.trustSource" -}}
{{- with .Values.trustedCertificates -}}
{{- if and .configMapName .secretName -}}
{{ fail "trustedCertificates.configMapName and trustedCertificates.secretName are both set. Set one of them (docs/operate/install.md)." }}
{{- else if .configMapName -}}
configMap: { name: {{ .configMapName }}, items: [{ key: {{ .key }}, path: {{ .key }} }] }
{{- else if .secretName -}}
secret: { secretName: {{ .secretName }}, items: [{ key: {{ .key }}, path: {{ .key }} }] }
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "carrel.trustMount" -}}
{{- if include "carrel.trustSource" . }}
- { name: trusted-certificates, mountPath: /etc/carrel/trusted-certificates, readOnly: true }
{{- end }}
{{- end -}}

{{- define "carrel.trustVolume" -}}
{{- with include "carrel.trustSource" . }}
- name: trusted-certificates
  {{ . }}
{{- end }}
{{- end -}}

{{/* What operator and worker both read. */}}
{{- define "carrel.sharedEnv" -}}
- name: CARREL_SHARDS_DIR
  value: /etc/carrel/shards
- name: CARREL_PLATFORM_KEYS
  valueFrom: { secretKeyRef: { name: {{ .Values.platformKeys.secretName }}, key: {{ .Values.platformKeys.key }} } }
- name: CARREL_REDIS_ADMIN_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.redis.secretName }}, key: {{ .Values.redis.key }} } }
- name: CARREL_EGRESS_ALLOW
  value: {{ join "," .Values.tenants.egressAllow | quote }}
{{- if include "carrel.trustSource" . }}
- name: CARREL_TRUSTED_CERTIFICATES_FILE
  value: /etc/carrel/trusted-certificates/{{ .Values.trustedCertificates.key }}
{{- end }}
- name: CARREL_LOG_LEVEL
  value: {{ .Values.logLevel }}
- name: CARREL_OPS_PORT
  value: '9090'
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_TRACES_SAMPLER
  value: {{ .sampler }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .samplerArg | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A volume for each shard, with these keys of its Secret. Call with (list $ "url" …). */}}
{{- define "carrel.shardVolumes" -}}
{{- $root := index . 0 -}}
{{- if not $root.Values.shards }}
{{- fail "shards is empty. Name at least one Postgres database and its Secret: shards: [{name: main, secretName: carrel-shard-main}] (docs/operate/install.md)." }}
{{- end }}
{{- $names := list }}
{{- range $root.Values.shards }}
{{- if has .name $names }}
{{- fail (printf "shards names %s twice. Each Postgres database has a name of its own." .name) }}
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- $files := rest . }}
{{- range $root.Values.shards }}
- name: shard-{{ .name }}
  secret:
    secretName: {{ .secretName }}
    # 0440 in the one way that YAML 1.1 and 1.2 read alike: for the pod's user by its fsGroup.
    defaultMode: 288
    items:
      {{- range $files }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- end }}
{{- end -}}

{{- define "carrel.shardMounts" -}}
{{- range .Values.shards }}
- name: shard-{{ .name }}
  mountPath: /etc/carrel/shards/{{ .name }}
  readOnly: true
{{- end }}
{{- end -}}

{{- define "carrel.probes" -}}
# The operator's first lists and the worker's first connections may take a while.
startupProbe: { httpGet: { path: /healthz, port: ops }, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 60 }
readinessProbe: { httpGet: { path: /readyz, port: ops }, periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 3 }
livenessProbe: { httpGet: { path: /healthz, port: ops }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }
{{- end -}}

{{/* Names of the operator's cluster-wide objects. They have the release's name alone, so a second release in the cluster needs a name of its own. */}}
{{- define "carrel.clusterName" -}}
{{ include "carrel.fullname" . }}-operator
{{- end -}}

{{/* The port of an address: the one it names, else its scheme's. */}}
{{- define "carrel.portOf" -}}
{{- $host := (urlParse .).host -}}
{{- $named := regexFind ":[0-9]+$" $host | trimPrefix ":" -}}
{{- if $named }}{{ $named }}{{ else if hasPrefix "https:" . }}443{{ else }}80{{ end -}}
{{- end -}}

{{/* The key of the backups and where their store is, as S3 clients know it. */}}
{{- define "carrel.backupEnv" -}}
- name: AWS_ACCESS_KEY_ID
  valueFrom: { secretKeyRef: { name: {{ .Values.backup.secretName }}, key: {{ .Values.backup.accessKeyIdKey }} } }
- name: AWS_SECRET_ACCESS_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.backup.secretName }}, key: {{ .Values.backup.secretAccessKeyKey }} } }
- name: AWS_REGION
  value: {{ .Values.backup.region | quote }}
{{- with .Values.backup.endpoint }}
- name: AWS_ENDPOINT_URL
  value: {{ . | quote }}
{{- end }}
{{- end -}}
