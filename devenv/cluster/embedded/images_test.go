// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/nodes"
)

func named(names ...string) nodes.Image { return nodes.Image{Names: names} }

func TestANameBelongsToTheImageThatWasLoadedLast(t *testing.T) {
	before := []nodes.Image{named("web:1", "web:v1"), named("other:v1")}
	after := addImage(before, named("web:2", "web:v1"))
	require.Equal(t, []nodes.Image{named("web:1"), named("other:v1"), named("web:2", "web:v1")}, after)
	require.Equal(t, named("web:1", "web:v1"), before[0], "what is shared is not changed")
	require.Equal(t, []nodes.Image{named("other:v1"), named("web:2", "web:v1"), named("web:1")},
		addImage(after, named("web:1")), "it comes last")
}

func TestTheListOfImagesIsBounded(t *testing.T) {
	var images []nodes.Image
	for i := range maxImages + 1 {
		images = addImage(images, named(fmt.Sprint(i)))
	}
	require.Len(t, images, maxImages)
	require.Equal(t, named("1"), images[0], "the oldest goes first")
}

func TestAnImageWaitsForTheNodeAndForItsTurn(t *testing.T) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{nodes.Resource: "NodeList"})
	watching := make(chan struct{})
	client.PrependWatchReactor("nodes", func(clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(nodes.Resource, "")
		close(watching)
		return true, w, err
	})
	conflicts := 0
	client.PrependReactor("patch", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "status" || conflicts == 1 {
			return false, nil, nil
		}
		conflicts++
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "embedded",
			errors.New("changed"))
	})
	ended := make(chan error, 1)
	go func() {
		done, err := tryChangeImages(t.Context(), nodes.New(client),
			func(images []nodes.Image) []nodes.Image { return addImage(images, named("web:v1")) })
		if err == nil && !done {
			err = errors.New("the watch has ended")
		}
		ended <- err
	}()
	<-watching
	api := client.Resource(nodes.Resource)
	node, err := api.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "embedded"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	address := map[string]any{"type": "Hostname", "address": "embedded"}
	node.Object["status"] = map[string]any{
		"addresses":  []any{address},
		"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
	}
	for range 2 { // the first meets with a conflict
		_, err = api.Update(t.Context(), node, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, <-ended)
	node, err = api.Get(t.Context(), "embedded", metav1.GetOptions{})
	require.NoError(t, err)
	status := node.Object["status"].(map[string]any)
	require.Equal(t, []any{map[string]any{"names": []any{"web:v1"}}}, status["images"])
	require.Equal(t, []any{address}, status["addresses"], "the rest of the status stays")
	require.Equal(t, 1, conflicts)
}

func TestAnArchiveThatIsNotThereIsNotLoaded(t *testing.T) {
	p := &Provider{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.ErrorContains(t, p.LoadImage(context.Background(),
		cluster.Image{Archive: filepath.Join(t.TempDir(), "gone.tar"), References: []string{"web:v1"}}), "gone.tar")
	require.ErrorContains(t, p.LoadImage(context.Background(),
		cluster.Image{Archive: t.TempDir(), References: []string{"web:v1"}}), "it is no file")
	require.ErrorContains(t, p.LoadImage(context.Background(),
		cluster.Image{References: []string{"web:v1"}}), "reach the embedded Kubernetes")
}
