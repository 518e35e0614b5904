// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

func writtenBy(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation,
		FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestOnlyWhatOurDeploymentHasWrittenIsAsItWasDeployed(t *testing.T) {
	t.Parallel()
	live := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: `+
		`{pipecd.dev/commit-hash: "1"}}, data: {n: "1", m: "1"}}`)
	both := []difference{{path: "data.n"}, {path: "data.m"}}
	ours := writtenBy(apply.FieldManager, metav1.ManagedFieldsOperationApply, `{"f:data":{"f:n":{},"f:m":{}}}`)
	for name, c := range map[string]struct {
		lookedUp bool
		commit   string
		entries  []metav1.ManagedFieldsEntry
		err      error
		left     int
	}{
		"all as deployed":               {lookedUp: true, commit: "1", entries: []metav1.ManagedFieldsEntry{ours}},
		"a chart that looks nothing up": {commit: "1", entries: []metav1.ManagedFieldsEntry{ours}, left: 2},
		"deployed by another commit": {lookedUp: true, commit: "2", left: 2,
			entries: []metav1.ManagedFieldsEntry{ours}},
		"someone else has written it": {lookedUp: true, commit: "1", left: 2},
		"written by a replacement of us": {lookedUp: true, commit: "1", left: 2, entries: []metav1.ManagedFieldsEntry{
			writtenBy(apply.FieldManager, metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:n":{},"f:m":{}}}`)}},
		"one is shared": {lookedUp: true, commit: "1", left: 1, entries: []metav1.ManagedFieldsEntry{ours,
			writtenBy("editor", metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:n":{}}}`)}},
		"the API does not answer": {lookedUp: true, commit: "1", err: errors.New("reset")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &drift{varies: c.lookedUp, source: &stage.Source{CommitHash: c.commit},
				managers: func(context.Context, schema.GroupVersionResource, *unstructured.Unstructured) (
					[]metav1.ManagedFieldsEntry, error) {
					return c.entries, c.err
				}}
			left, err := d.sinceDeployed(t.Context(), place{}, live, both)
			require.ErrorIs(t, err, c.err)
			require.Len(t, left, c.left)
			require.Len(t, both, 2)
		})
	}
}

func TestAPlainValueOfASecretThatOurDeploymentHasWrittenIsAsItWasDeployed(t *testing.T) {
	t.Parallel()
	ours := writtenBy(apply.FieldManager, metav1.ManagedFieldsOperationApply, `{"f:stringData":{"f:n":{}}}`)
	theirs := writtenBy("editor", metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:n":{}}}`)
	for name, c := range map[string]struct {
		kind    string
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		"a Secret":                          {"Secret", []metav1.ManagedFieldsEntry{ours}, true},
		"someone else has written it since": {"Secret", []metav1.ManagedFieldsEntry{ours, theirs}, false},
		"another kind":                      {"ConfigMap", []metav1.ManagedFieldsEntry{ours}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := parse(t, "{apiVersion: v1, kind: "+c.kind+", metadata: {name: a}, data: {n: x}}")
			require.Equal(t, c.want, oursAlone(c.entries, live, "data.n"))
		})
	}
}
