// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// failingWatch lists nothing, and ends each watch with an error.
type failingWatch struct {
	lists int
	with  *apierrors.StatusError
}

func (f *failingWatch) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	f.lists++
	return &unstructured.UnstructuredList{}, nil
}

func (f *failingWatch) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	w := watch.NewFakeWithChanSize(1, false)
	w.Error(&f.with.ErrStatus)
	w.Stop()
	return w, nil
}

// The store of an API server may have lost the revision that a change replaced.
func TestAWatchThatTheServerCannotGoOnWithBeginsAgain(t *testing.T) {
	t.Parallel()
	lost := &failingWatch{with: apierrors.NewInternalError(errors.New("etcd event received with PrevKv=nil"))}
	err := cluster.Follow(t.Context(), lost, metav1.ListOptions{}, func([]*unstructured.Unstructured) (bool, error) {
		return lost.lists == 2, nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, lost.lists)

	refused := &failingWatch{with: apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "", nil)}
	err = cluster.Follow(t.Context(), refused, metav1.ListOptions{}, func([]*unstructured.Unstructured) (bool, error) {
		return refused.lists == 2, nil
	})
	require.True(t, apierrors.IsForbidden(err), err)
}
