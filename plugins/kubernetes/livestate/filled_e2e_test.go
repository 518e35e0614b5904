// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package livestate

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/retry"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/imagebuilder"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Each file of testdata/filled has kinds, as "== apiVersion Kind", and below each its objects, one a line: of them the
// API, a controller or the webhook of this test fills in something, or writes it in another form.
func TestWhatOthersFillInIsNoDriftOnManyObjectsOfManyKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mutates()
	objects := w.filled()
	requireVariety(t, objects)
	to := Destination{Target: w.local, Source: w.source(map[string]string{"all.yaml": list(t, objects)})}
	applied := w.apply(to)
	hooked := 0
	for _, a := range applied {
		if a.Live.GetLabels()["webhook.example.com/seen"] == "yes" {
			hooked++
		}
	}
	require.Greater(t, hooked, 100, "the webhook has changed what is in the namespace")

	w.becomes("all is as in Git", w.inSync(applied), to)
	for range 2 { // everything is listed again
		w.relist()
		w.becomes("all is as in Git at a fresh look", w.inSync(applied), to)
	}
	for _, a := range applied { // a controller writes the whole object
		require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			live, err := a.Resource.Get(t.Context(), a.Live.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			annotations := live.GetAnnotations()
			annotations["controller.example.com/at"] = "now"
			live.SetAnnotations(annotations)
			_, err = a.Resource.Update(t.Context(), live, metav1.UpdateOptions{FieldManager: "controller"})
			return err
		}), "%s", a.Manifest.Key().Human())
	}
	for range 2 {
		w.relist()
		w.becomes("all is as in Git after a controller", w.inSync(applied), to)
	}
	w.edit(applied, "LimitRange", `{"spec":{"limits":[{"type":"Pod","max":{"cpu":"7"}}]}}`)
	w.edit(applied, "NetworkPolicy", `{"spec":{"podSelector":{"matchLabels":{"tier":"web"}}}}`)
	w.relist()
	w.becomes("a real drift shows", func(s *sdk.Livestate) bool {
		return strings.Contains(s.Sync.Reason, "LimitRange") &&
			strings.Contains(s.Sync.Reason, `spec.podSelector.matchLabels: nothing in Git, {"tier":"web"} live`) &&
			strings.Contains(s.Sync.Reason, "(written by editor)")
	}, to)
}

// inSync reports whether nothing differs; what differs is logged. Jobs and Pods may have ended, all are there.
func (w *world) inSync(applied []apply.Applied) func(*sdk.Livestate) bool {
	return func(s *sdk.Livestate) bool {
		if s.Sync.Status != sdk.Synced {
			w.t.Log(s.Sync.Reason)
			return false
		}
		roots := 0
		for _, r := range s.Resources {
			if len(r.ParentIDs) == 0 {
				roots++
			}
		}
		require.Equal(w.t, len(applied), roots)
		return true
	}
}

func requireVariety(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	kinds := map[string]int{}
	for _, o := range objects {
		kinds[o.GroupVersionKind().GroupKind().String()]++
	}
	require.GreaterOrEqual(t, len(objects), 200)
	require.GreaterOrEqual(t, len(kinds), 40)
	for kind, n := range kinds {
		require.LessOrEqual(t, n, 10, kind)
	}
}

// filled reads testdata/filled.
func (w *world) filled() (objects []*unstructured.Unstructured) {
	w.t.Helper()
	files, err := filepath.Glob("testdata/filled/*.txt")
	require.NoError(w.t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(w.t, err)
		var apiVersion, kind string
		for line := range strings.Lines(strings.ReplaceAll(string(data), "GROUP", w.namespace+".example.com")) {
			if header, ok := strings.CutPrefix(line, "== "); ok {
				apiVersion, kind, _ = strings.Cut(strings.TrimSpace(header), " ")
				continue
			}
			o := &unstructured.Unstructured{}
			require.NoError(w.t, yaml.Unmarshal([]byte(line), &o.Object), "%s: %s", file, line)
			if o.Object == nil {
				o.Object = map[string]any{}
			}
			o.SetAPIVersion(apiVersion)
			o.SetKind(kind)
			if o.GetName() == "" {
				o.SetName(fmt.Sprintf("%s-%d", w.namespace, len(objects)))
			}
			objects = append(objects, o)
		}
	}
	return objects
}

func list(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var b strings.Builder
	for _, o := range objects {
		data, err := json.Marshal(o.Object) // with the nulls that it has
		require.NoError(t, err)
		fmt.Fprintf(&b, "---\n%s\n", data)
	}
	return b.String()
}

// apply deploys the source. What is outside of the namespace goes with the test.
func (w *world) apply(to Destination) []apply.Applied {
	w.t.Helper()
	loaded, err := w.store.loader.LoadPrimary(w.t.Context(), []stage.Target{to.Target}, to.Source, stage.Loading{})
	require.NoError(w.t, err)
	manifests := loaded.Manifests
	manifest.Stamp{
		PipedID: "piped", ApplicationID: w.id, CommitHash: to.Source.CommitHash, VariantKey: config.DefaultVariantKey,
		Variant: config.DefaultPrimaryValue,
	}.Apply(manifests)
	waves, err := phase.Waves(manifests)
	require.NoError(w.t, err)
	applied, err := apply.New(w.client, testLog{w.t}).Apply(w.t.Context(), waves)
	w.t.Cleanup(func() {
		for _, a := range applied {
			if a.Live.GetNamespace() == "" {
				_ = a.Resource.Delete(context.Background(), a.Live.GetName(), metav1.DeleteOptions{})
			}
		}
	})
	require.NoError(w.t, err)
	return applied
}

type testLog struct{ t *testing.T }

func (l testLog) Infof(format string, args ...any) { l.t.Logf(format, args...) }
func (testLog) Successf(string, ...any)            {}

// relist replaces the store by one that has seen nothing.
func (w *world) relist() {
	w.t.Helper()
	before := w.store
	w.store = NewStore(stage.NewLoader(manifest.NewLoader(), imagebuilder.Client{}, nil), before.pool)
	w.store.reach, w.store.pause, w.store.mark = before.reach, before.pause, before.mark
	before.Close()
	w.t.Cleanup(w.store.Close)
}

// edit changes the first object of a kind, as a user would.
func (w *world) edit(applied []apply.Applied, kind, patch string) {
	w.t.Helper()
	at := slices.IndexFunc(applied, func(a apply.Applied) bool { return a.Live.GetKind() == kind })
	require.GreaterOrEqual(w.t, at, 0)
	_, err := applied[at].Resource.Patch(w.t.Context(), applied[at].Live.GetName(), types.MergePatchType,
		[]byte(patch), metav1.PatchOptions{FieldManager: "editor"})
	require.NoError(w.t, err)
}

// mutates installs a webhook that labels and annotates every object of the namespace.
func (w *world) mutates() {
	w.t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(admit))
	w.t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hook := parse(w.t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
  - name: fill.example.com
    admissionReviewVersions: [v1]
    sideEffects: None
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    clientConfig: {url: %q}
    rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"],
      scope: Namespaced}]
`, w.namespace, server.URL))
	require.NoError(w.t, unstructured.SetNestedSlice(hook.Object, withBundle(w.t, hook, certificate), "webhooks"))
	hooks := w.client.Dynamic.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1",
		Resource: "mutatingwebhookconfigurations"})
	_, err := hooks.Create(w.t.Context(), hook, metav1.CreateOptions{})
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		require.NoError(w.t, hooks.Delete(context.Background(), w.namespace, metav1.DeleteOptions{}))
	})
}

func withBundle(t *testing.T, hook *unstructured.Unstructured, certificate []byte) []any {
	t.Helper()
	webhooks, _, err := unstructured.NestedSlice(hook.Object, "webhooks")
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(webhooks[0].(map[string]any),
		base64.StdEncoding.EncodeToString(certificate), "clientConfig", "caBundle"))
	return webhooks
}

// admit answers the API: a label and an annotation are added.
func admit(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	var review map[string]any
	if err != nil || json.Unmarshal(body, &review) != nil {
		http.Error(out, "no review", http.StatusBadRequest)
		return
	}
	request, _ := review["request"].(map[string]any)
	object, _ := request["object"].(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	patch := []map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		values, _ := metadata[field].(map[string]any)
		if len(values) == 0 {
			patch = append(patch, map[string]any{"op": "add", "path": "/metadata/" + field, "value": map[string]any{}})
		}
		patch = append(patch, map[string]any{"op": "add", "path": "/metadata/" + field + "/webhook.example.com~1seen",
			"value": "yes"})
	}
	operations, err := json.Marshal(patch)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	review["response"] = map[string]any{"uid": request["uid"], "allowed": true, "patchType": "JSONPatch",
		"patch": operations}
	delete(review, "request")
	_ = json.NewEncoder(out).Encode(review) // the API asks again
}
