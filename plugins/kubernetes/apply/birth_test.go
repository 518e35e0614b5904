// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWhetherAnObjectWasCreatedIsWhatTheAPIAnswers(t *testing.T) {
	t.Parallel()
	made := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	object := func(managers ...string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetCreationTimestamp(made)
		var entries []metav1.ManagedFieldsEntry
		for _, m := range managers {
			entries = append(entries, metav1.ManagedFieldsEntry{Manager: m, Time: &made})
		}
		o.SetManagedFields(entries)
		return o
	}
	fresh, touched := object("piped"), object("piped", "a webhook")
	require.True(t, (&birth{seen: true}).shows(touched))
	require.False(t, (&birth{}).shows(fresh), "another application of this piped has just created it")
	require.True(t, (&birth{lost: true}).shows(fresh))
	require.False(t, (&birth{lost: true}).shows(touched))
	fresh.SetCreationTimestamp(metav1.NewTime(made.Add(-time.Second)))
	require.False(t, (&birth{lost: true}).shows(fresh))
}
