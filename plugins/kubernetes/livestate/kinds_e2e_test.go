// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package livestate

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// becomes asks whenever the store reports a change, until the answer is as wanted.
func (w *world) becomes(what string, is func(*sdk.Livestate) bool, to ...Destination) *sdk.Livestate {
	w.t.Helper()
	state := w.get(to...)
	for !is(state) {
		select {
		case <-w.changes:
		case <-time.After(time.Minute):
			require.FailNow(w.t, what, "nothing more was reported; the last answer: %v", state)
		}
		state = w.get(to...)
	}
	return state
}

func short(reason string) func(*sdk.Livestate) bool {
	return func(s *sdk.Livestate) bool { return s.Sync.ShortReason == reason }
}

func TestAKindThatIsInstalledLaterIsNoticedAndSoIsItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.namespace + ".example.com"
	wheels := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "wheels"}
	front := "apiVersion: " + group + "/v1\nkind: Wheel\nmetadata: {name: front}\nspec: {size: 28}\n"
	to := Destination{Target: w.local, Source: w.source(map[string]string{"front.yaml": front})}
	here := "Wheel " + w.namespace + "/front"

	unknown := "Wheel " + w.namespace + "/front is missing, and the cluster does not know " + group + "/v1 Wheel"
	require.Equal(t, unknown, w.get(to).Sync.ShortReason)

	w.install(parse(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wheels.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Wheel, plural: wheels, singular: wheel}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}},
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group)))
	w.becomes("the kind is known", short(here+" is missing in the cluster"), to)

	owner := w.put(wheels, parse(t, front))
	state := w.becomes("the object is there", short(""), to)
	require.Equal(t, sdk.Healthy, state.Resources[0].Health)

	// What an operator makes of it is in the tree, the content of secrets is not even read.
	secret := parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: hub}, stringData: {password: hunter2}}")
	secret.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: group + "/v1", Kind: "Wheel", Name: "front",
		UID: owner.GetUID()}})
	_, err := w.client.Dynamic.Resource(schema.GroupVersionResource{Version: "v1",
		Resource: "secrets"}).Namespace(w.namespace).Create(t.Context(), secret, metav1.CreateOptions{})
	require.NoError(t, err)
	state = w.becomes("its secret is there", func(s *sdk.Livestate) bool { return len(s.Resources) == 2 }, to)
	require.Equal(t, "Secret", state.Resources[1].Type)
	require.Equal(t, []string{string(owner.GetUID())}, state.Resources[1].ParentIDs)
	require.Equal(t, sdk.Healthy, state.Resources[1].Health)

	require.NoError(t, unstructured.SetNestedSlice(owner.Object,
		[]any{map[string]any{"type": "Ready", "status": "False", "reason": "Flat",
			"message": "no air"}}, "status", "conditions"))
	_, err = w.client.Dynamic.Resource(wheels).Namespace(w.namespace).UpdateStatus(t.Context(), owner,
		metav1.UpdateOptions{})
	require.NoError(t, err)
	state = w.becomes("its condition", func(s *sdk.Livestate) bool {
		return s.Resources[0].Health == sdk.Unhealthy
	}, to)
	require.Contains(t, state.Resources[0].HealthDescription, "no air")

	require.NoError(t, w.client.Dynamic.Resource(definitions).Delete(t.Context(), "wheels."+group,
		metav1.DeleteOptions{}))
	w.becomes("the kind is gone", short(unknown), to)
}

// install makes an object of the whole cluster, which goes with the test.
func (w *world) install(definition *unstructured.Unstructured) {
	w.t.Helper()
	_, err := w.client.Dynamic.Resource(definitions).Create(w.t.Context(), definition, metav1.CreateOptions{})
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		// it is mostly gone already
		_ = w.client.Dynamic.Resource(definitions).Delete(context.Background(), definition.GetName(),
			metav1.DeleteOptions{})
	})
}
