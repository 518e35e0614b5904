// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package existing

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/clustertest"
)

func TestExistingConforms(t *testing.T) {
	kubeconfig := os.Getenv("PIPEDECK_TEST_KUBECONFIG")
	require.NotEmpty(t, kubeconfig,
		"run it with: go run ./e2e/withkubernetes go test -tags e2e ./devenv/cluster/existing")
	forget(t, kubeconfig)
	clustertest.Suite{
		New: func(t *testing.T, at clustertest.Place) cluster.Provider {
			found, err := Find(kubeconfig, "")
			require.NoError(t, err)
			require.NoError(t, found.Check())
			return New(Config{Context: found, Kubeconfig: at.Kubeconfig, Logger: slog.New(slog.DiscardHandler)})
		},
		Kind: cluster.Existing, NoImages: true,
		Left: func(_ *testing.T, at clustertest.Place) []string {
			if _, err := os.Stat(at.Kubeconfig); err != nil {
				return nil
			}
			return []string{at.Kubeconfig}
		},
	}.Run(t)
	require.FileExists(t, kubeconfig)
}

// forget removes what the suite keeps in the cluster: Delete must not.
func forget(t *testing.T, kubeconfig string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Delete(context.Background(), "kept",
			metav1.DeleteOptions{})
		require.False(t, apierrors.IsNotFound(err), "Delete touched the user's cluster")
		require.NoError(t, err)
	})
}
