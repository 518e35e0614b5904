{{- define "parts.settings" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  labels: {made-by: {{ .root.Chart.Name }}, parts: "2"}
data:
  colour: {{ .root.Values.colour | upper }}
{{- end }}
