{{- define "parts.settings" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  labels: {made-by: {{ .root.Chart.Name }}}
data:
  colour: {{ .root.Values.colour }}
{{- end }}
