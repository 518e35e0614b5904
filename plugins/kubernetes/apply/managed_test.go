// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/csaupgrade"
)

func managedBy(t *testing.T, entries string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, "+
		"creationTimestamp: '2026-01-01T00:00:00Z', managedFields: ["+entries+"]}}"), &o.Object))
	return o
}

const (
	ours = "{manager: piped, operation: Apply, apiVersion: v1, time: '2026-01-01T00:00:00Z', " +
		"fieldsV1: {'f:data': {}}}"
	replaced = "{manager: kubectl-replace, operation: Update, apiVersion: v1, fieldsV1: {'f:data': {'f:a': {}}}}"
	byHand   = "{manager: kubectl-edit, operation: Update, apiVersion: v1, fieldsV1: {'f:data': {'f:a': {}}}}"
	scaled   = "{manager: piped, operation: Update, subresource: scale, apiVersion: v1, fieldsV1: {'f:spec': {}}}"
	updated  = "{manager: piped, operation: Update, apiVersion: v1, fieldsV1: {'f:data': {'f:b': {}}}}"
)

func TestOnlyWhatIsToBeTakenOverIsPatched(t *testing.T) {
	t.Parallel()
	for entries, want := range map[string]bool{
		"": false, ours: false, ours + "," + byHand: false, ours + "," + scaled: false, ours + "," + replaced: true,
		replaced: true, byHand: false, ours + "," + updated: true,
	} {
		o := managedBy(t, entries)
		patch, err := csaupgrade.UpgradeManagedFieldsPatch(o, replacedManagers, FieldManager)
		require.NoError(t, err)
		require.Equal(t, want, patch != nil, entries)
		require.Equal(t, want, hasReplaced(o), entries)
	}
}

func TestAnObjectIsNewUntilSomeoneWritesToItAgain(t *testing.T) {
	t.Parallel()
	require.True(t, isNew(managedBy(t, ours)))
	require.True(t, isNew(managedBy(t, "{manager: piped, operation: Apply}")))
	require.False(t, isNew(managedBy(t, "{manager: piped, operation: Apply, time: '2026-01-01T00:00:01Z'}")))
	require.False(t, isNew(managedBy(t, ours+","+byHand)))
	require.False(t, isNew(managedBy(t, "")))
}
