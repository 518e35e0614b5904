// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const workload = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: prod
  labels: {team: a}
  annotations: {note: mine}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: main
          image: registry:5000/team/app:v1
          env:
            - {name: A, valueFrom: {secretKeyRef: {name: sec, key: a}}}
          envFrom:
            - configMapRef: {name: conf}
      volumes:
        - {name: unmanaged, configMap: {name: elsewhere}}
`

func TestLabelsAndAnnotationsAreThoseOfPipeCD(t *testing.T) {
	t.Parallel()
	manifests, err := manifest.Parse([]byte(workload), "web.yaml")
	require.NoError(t, err)
	manifest.Stamp{PipedID: "p", ApplicationID: "a", CommitHash: "c", VariantKey: "pipecd.dev/variant",
		Variant: "primary"}.Apply(manifests)
	m := manifests[0]
	require.Equal(t, map[string]string{
		"team": "a", "pipecd.dev/managed-by": "piped", "pipecd.dev/piped": "p", "pipecd.dev/application": "a",
		"pipecd.dev/commit-hash": "c", "pipecd.dev/variant": "primary",
	}, m.GetLabels())
	require.Equal(t, map[string]string{
		"note": "mine", "pipecd.dev/managed-by": "piped", "pipecd.dev/piped": "p", "pipecd.dev/application": "a",
		"pipecd.dev/commit-hash": "c", "pipecd.dev/variant": "primary",
		"pipecd.dev/original-api-version": "apps/v1", "pipecd.dev/resource-key": "apps:Deployment:prod:web",
	}, m.GetAnnotations())
	template := m.Object["spec"].(map[string]any)["template"].(map[string]any)
	require.Equal(t, map[string]any{"labels": map[string]any{"app": "web"}}, template["metadata"],
		"pod templates are left alone")
}

func TestTheConfigHashCoversTheManagedConfigurationOfAWorkload(t *testing.T) {
	t.Parallel()
	config := `---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: prod}
data: {b: "2", a: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: sec, namespace: prod}
type: Opaque
immutable: true
data: {a: YWE=}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere, namespace: other}
`
	sum := sha256.Sum256([]byte(`{"data":{"a":"1","b":"2"},"kind":"ConfigMap","name":"conf"}` +
		`{"data":{"a":"YWE="},"immutable":true,"kind":"Secret","name":"sec","type":"Opaque"}`))
	want := strings.NewReplacer("0", "g", "1", "h", "3", "k", "a", "m", "e",
		"t").Replace(hex.EncodeToString(sum[:])[:10])

	hash := func(text string) any {
		manifests, err := manifest.Parse([]byte(text), "web.yaml")
		require.NoError(t, err)
		require.NoError(t, manifest.AddConfigHashes(manifests))
		template := manifests[0].Object["spec"].(map[string]any)["template"].(map[string]any)
		annotations, _ := template["metadata"].(map[string]any)["annotations"].(map[string]any)
		return annotations["pipecd.dev/config-hash"]
	}
	require.Equal(t, want, hash(workload+config))
	require.NotEqual(t, want, hash(workload+strings.Replace(config, `a: "1"`, `a: "9"`, 1)))
	require.Nil(t, hash(workload), "configuration from elsewhere does not count")
	stringData := strings.Replace(config, "data: {a: YWE=}", "stringData: {a: aa}", 1)
	require.Equal(t, want, hash(workload+stringData), "as the API stores it")
}

func TestImagesAreReplacedInEveryPod(t *testing.T) {
	t.Parallel()
	pods := `spec: {initContainers: [{name: i, image: "built:v1"}], containers: [{name: a, image: "other:v1"}, ` +
		`{name: b, image: "built:v1"}, {name: c}]}`
	manifests, err := manifest.Parse(
		[]byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {`+pods+`}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, `+pods+`}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: {template: {`+pods+`}}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {image: "built:v1"}}
`), "all.yaml")
	require.NoError(t, err)
	require.Equal(t, []string{"other:v1", "built:v1"}, manifest.References(manifests))
	manifest.ReplaceImages(manifests, map[string]string{"built:v1": "built:sum", "gone:v1": "gone:sum"})
	require.Equal(t, []string{"other:v1", "built:sum"}, manifest.References(manifests))
	for _, m := range manifests[:3] {
		var images []string
		for _, image := range manifest.Images(m) {
			images = append(images, image.Reference)
		}
		require.Equal(t, []string{"other:v1", "built:sum", "built:sum"}, images, m.GetKind())
	}
	require.Equal(t, map[string]any{"image": "built:v1"}, manifests[3].Object["data"])
}

func TestTheSameResourceHasTheSameFoldedKey(t *testing.T) {
	t.Parallel()
	a := manifest.Key{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}
	b := manifest.Key{Group: "apps", Kind: "deployment", Name: "Web"}
	require.Equal(t, a.Fold(), b.Fold())
	require.NotEqual(t, a.Fold(), manifest.Key{Group: "apps", Kind: "Deployment", Namespace: "prod",
		Name: "web"}.Fold())
}
