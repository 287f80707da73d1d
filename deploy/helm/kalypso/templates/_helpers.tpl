{{- define "kalypso.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "kalypso.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := include "kalypso.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "kalypso.selectorLabels" -}}
app.kubernetes.io/name: {{ include "kalypso.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "kalypso.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "kalypso.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kalypso.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "kalypso.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "kalypso.image" -}}
{{- $repository := required "image.repository: name your image, which deploy/docker/Dockerfile builds" .Values.image.repository }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "kalypso.claimName" -}}
{{- default (printf "%s-state" (include "kalypso.fullname" .)) .Values.database.sqlite.persistence.existingClaim }}
{{- end }}

{{- define "kalypso.scheme" -}}
{{- if .Values.secrets.tls }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- define "kalypso.containerSecurityContext" -}}
{{- $defaults := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) }}
{{- toYaml (mergeOverwrite $defaults (deepCopy .Values.containerSecurityContext)) }}
{{- end }}

{{- define "kalypso.podSecurityContext" -}}
{{- $defaults := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "fsGroup" 65532 "fsGroupChangePolicy" "OnRootMismatch" "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- toYaml (mergeOverwrite $defaults (deepCopy .Values.podSecurityContext)) }}
{{- end }}

{{- /* Combinations of values that can't work. */ -}}
{{- define "kalypso.validate" -}}
{{- if not .Values.config }}
{{- fail "config: write the content of kalypso.toml, at least control-plane.repo" }}
{{- end }}
{{- if and (eq .Values.database.type "sqlite") (gt (int .Values.replicaCount) 1) }}
{{- fail "replicaCount: only one replica can use SQLite; set database.type to postgresql" }}
{{- end }}
{{- if and (eq .Values.database.type "postgresql") (not .Values.database.postgresql.existingSecret) }}
{{- fail "database.postgresql.existingSecret: name the Secret with the URL of the database" }}
{{- end }}
{{- if and .Values.secrets.tls (not (contains "tls-certificate" .Values.config)) }}
{{- fail "secrets.tls: also set hub.tls-certificate and hub.tls-key in config, to /run/secrets/kalypso-tls/tls.crt and tls.key" }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.tokenSecret.name) }}
{{- fail "serviceMonitor.tokenSecret.name: name the Secret with a token, because /metrics needs one" }}
{{- end }}
{{- end }}
