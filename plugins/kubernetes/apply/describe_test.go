// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const web = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: prod
spec:
  replica: 2
  selector:
    matchLabels: {app: web}
`

func parse(t *testing.T, text string) []manifest.Manifest {
	t.Helper()
	m, err := manifest.Parse([]byte(text), "web.yaml")
	require.NoError(t, err)
	return m
}

func TestARefusalNamesThePlaceAndTheWayOut(t *testing.T) {
	t.Parallel()
	gk := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	gr := schema.GroupResource{Group: "apps", Resource: "deployments"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"a field that does not exist, server-side": {
			apierrors.NewInternalError(errors.New("failed to create typed patch object (prod/web; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema")),
			"web.yaml:7: Deployment prod/web: the field spec.replica does not exist in apps/v1 Deployment; look for a misspelling or a wrong indentation",
		},
		"a field that does not exist, created": {
			apierrors.NewBadRequest(`strict decoding error: unknown field "spec.replica"`),
			"web.yaml:7: Deployment prod/web: the field spec.replica does not exist",
		},
		"a field that cannot be changed": {
			apierrors.NewInvalid(gk, "web", field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), "x", "field is immutable")}),
			"web.yaml:8: Deployment prod/web: spec.selector: Invalid value: \"x\": field is immutable; the field cannot be changed in place: set the annotation pipecd.dev/force-sync-by-replace: enabled",
		},
		"a missing permission": {
			apierrors.NewForbidden(gr, "web", errors.New("no")),
			`Deployment prod/web: the user of the kubeconfig may not patch Deployment in namespace "prod"`,
		},
		"a missing namespace": {
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "prod"),
			`the namespace "prod" does not exist; create it, or set input.autoCreateNamespace: true`,
		},
		"a wrong type": {
			apierrors.NewBadRequest("failed to create typed patch object: .spec.replica: expected string, got &value.valueUnstructured{Value:2}"),
			"web.yaml:7: Deployment prod/web: the field spec.replica has the wrong type: expected string, got 2; put the value in quotes",
		},
		"anything else": {errors.New("connection reset"), "apply Deployment prod/web: connection reset"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := describe(tt.err, parse(t, web)[0])
			require.ErrorContains(t, err, tt.want)
			require.ErrorIs(t, err, tt.err)
		})
	}
}

func TestManifestsAreAppliedInAnOrderThatWorks(t *testing.T) {
	t.Parallel()
	var text string
	for _, kind := range []string{"Deployment", "Thing", "ConfigMap", "Ingress", "Service", "CustomResourceDefinition", "ClusterRoleBinding", "Namespace", "ServiceAccount", "ValidatingWebhookConfiguration"} {
		text += fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: {name: a}\n---\n", kind)
	}
	text += "apiVersion: v1\nkind: Job\nmetadata: {name: migrate, annotations: {pipecd.dev/order: \"-5\"}}\n"
	sorted, err := Sort(parse(t, text))
	require.NoError(t, err)
	var kinds []string
	for _, m := range sorted {
		kinds = append(kinds, m.GetKind())
	}
	require.Equal(t, []string{"Job", "Namespace", "CustomResourceDefinition", "ServiceAccount", "ConfigMap", "ClusterRoleBinding", "Service", "Thing", "Deployment", "Ingress", "ValidatingWebhookConfiguration"}, kinds)
}

func TestOnlyRequestsThatMaySucceedLaterAreRepeated(t *testing.T) {
	t.Parallel()
	quick := backoff{first: time.Microsecond, tries: 3}
	count := func(errs ...error) (int, error) {
		n := 0
		err := quick.do(t.Context(), func() error {
			n++
			if n <= len(errs) {
				return errs[n-1]
			}
			return nil
		})
		return n, err
	}
	busy := apierrors.NewServiceUnavailable("busy")
	n, err := count(busy, errors.New("connection refused"))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	n, err = count(busy, busy, busy, busy)
	require.ErrorIs(t, err, busy)
	require.Equal(t, 3, n, "the repetition is bounded")
	bad := apierrors.NewBadRequest("bad")
	n, err = count(bad)
	require.ErrorIs(t, err, bad)
	require.Equal(t, 1, n)

	ctx, cancel := context.WithCancel(t.Context())
	err = backoff{first: time.Hour, tries: 3}.do(ctx, func() error { cancel(); return busy })
	require.ErrorIs(t, err, busy)
}
