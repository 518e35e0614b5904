// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func named(names ...string) corev1.ContainerImage { return corev1.ContainerImage{Names: names} }

func TestANameBelongsToTheImageThatWasLoadedLast(t *testing.T) {
	before := []corev1.ContainerImage{named("web:1", "web:v1"), named("other:v1")}
	after := addImage(before, named("web:2", "web:v1"))
	require.Equal(t, []corev1.ContainerImage{named("web:1"), named("other:v1"), named("web:2", "web:v1")}, after)
	require.Equal(t, named("web:1", "web:v1"), before[0], "what is shared is not changed")
	require.Equal(t, []corev1.ContainerImage{named("other:v1"), named("web:2", "web:v1"), named("web:1")}, addImage(after, named("web:1")), "it comes last")
}

func TestTheListOfImagesIsBounded(t *testing.T) {
	var images []corev1.ContainerImage
	for i := range maxImages + 1 {
		images = addImage(images, named(fmt.Sprint(i)))
	}
	require.Len(t, images, maxImages)
	require.Equal(t, named("1"), images[0], "the oldest goes first")
}

func TestAnArchiveThatIsNotThereIsNotLoaded(t *testing.T) {
	p := &Provider{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.ErrorContains(t, p.LoadImage(context.Background(), filepath.Join(t.TempDir(), "gone.tar"), []string{"web:v1"}), "gone.tar")
	require.ErrorContains(t, p.LoadImage(context.Background(), t.TempDir(), []string{"web:v1"}), "it is no file")
	require.ErrorContains(t, p.LoadImage(context.Background(), "", []string{"web:v1"}), "reach the embedded Kubernetes")
}
