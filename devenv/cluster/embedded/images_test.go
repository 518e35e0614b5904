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
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

func named(names ...string) corev1.ContainerImage { return corev1.ContainerImage{Names: names} }

func TestANameBelongsToTheImageThatWasLoadedLast(t *testing.T) {
	before := []corev1.ContainerImage{named("web:1", "web:v1"), named("other:v1")}
	after := addImage(before, named("web:2", "web:v1"))
	require.Equal(t, []corev1.ContainerImage{named("web:1"), named("other:v1"), named("web:2", "web:v1")}, after)
	require.Equal(t, named("web:1", "web:v1"), before[0], "what is shared is not changed")
	require.Equal(t, []corev1.ContainerImage{named("other:v1"), named("web:2", "web:v1"), named("web:1")},
		addImage(after, named("web:1")), "it comes last")
}

func TestTheListOfImagesIsBounded(t *testing.T) {
	var images []corev1.ContainerImage
	for i := range maxImages + 1 {
		images = addImage(images, named(fmt.Sprint(i)))
	}
	require.Len(t, images, maxImages)
	require.Equal(t, named("1"), images[0], "the oldest goes first")
}

// fakeNodes is a nodeClient of client-go's fake.
type fakeNodes struct{ typedcorev1.NodeInterface }

func (f fakeNodes) UpdateStatus(ctx context.Context, node *corev1.Node) error {
	_, err := f.NodeInterface.UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func TestAnImageWaitsForTheNodeAndForItsTurn(t *testing.T) {
	client := fake.NewClientset()
	watching := make(chan struct{})
	client.PrependWatchReactor("nodes", func(clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(corev1.SchemeGroupVersion.WithResource("nodes"), "")
		close(watching)
		return true, w, err
	})
	conflicts := 0
	client.PrependReactor("update", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "status" || conflicts == 1 {
			return false, nil, nil
		}
		conflicts++
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "embedded",
			errors.New("changed"))
	})
	ended := make(chan error, 1)
	go func() {
		done, err := tryChangeImages(t.Context(), fakeNodes{client.CoreV1().Nodes()},
			func(images []corev1.ContainerImage) []corev1.ContainerImage { return addImage(images, named("web:v1")) })
		if err == nil && !done {
			err = errors.New("the watch has ended")
		}
		ended <- err
	}()
	<-watching
	nodes := client.CoreV1().Nodes()
	node, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "embedded"}},
		metav1.CreateOptions{})
	require.NoError(t, err)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for range 2 { // the first meets with a conflict
		_, err = nodes.Update(t.Context(), node, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, <-ended)
	node, err = nodes.Get(t.Context(), "embedded", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, []corev1.ContainerImage{named("web:v1")}, node.Status.Images)
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
