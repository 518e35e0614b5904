// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
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

func parseAs(t *testing.T, text string) manifest.Manifest {
	t.Helper()
	m, err := manifest.Parse([]byte(text), "a.yaml")
	require.NoError(t, err)
	return m[0]
}

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
			apierrors.NewInternalError(errors.New("failed to create typed patch object (prod/web; apps/v1, " +
				"Kind=Deployment): .spec.replica: field not declared in schema")),
			"web.yaml:7: Deployment prod/web: spec.replica: no such field in apps/v1 Deployment\nnext step: look " +
				"for a misspelling or a wrong indentation",
		},
		"a field that does not exist, created": {
			apierrors.NewBadRequest(`strict decoding error: unknown field "spec.replica"`),
			"web.yaml:7: Deployment prod/web: spec.replica: no such field in apps/v1 Deployment\nnext step: look for",
		},
		"a field that cannot be changed": {
			apierrors.NewInvalid(gk, "web",
				field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), "x", "field is immutable")}),
			"web.yaml:8: Deployment prod/web: spec.selector: cannot be changed in place\nnext step: to delete and " +
				"create it again, set metadata.annotations[\"pipecd.dev/force-sync-by-replace\"]: enabled in the " +
				"manifest (its pods go with it); or give it a new name",
		},
		"a missing permission": {
			apierrors.NewForbidden(gr, "web",
				errors.New(`User "ann" cannot patch resource "deployments" in API group "apps" in the `+
					`namespace "prod"`)),
			`web.yaml:1: Deployment prod/web: the user ann of the kubeconfig may not patch deployments.apps in the ` +
				"namespace prod\nnext step: give it a Role with the verbs",
		},
		"a missing permission for what has no namespace": {
			apierrors.NewForbidden(gr, "web",
				errors.New(`User "ann" cannot create resource "clusterroles" in API group `+
					`"rbac.authorization.k8s.io" at the cluster scope`)),
			"may not create clusterroles.rbac.authorization.k8s.io in the whole cluster\nnext step: give it a " +
				"ClusterRole",
		},
		"a quota": {
			apierrors.NewForbidden(gr, "web",
				errors.New("exceeded quota: small, requested: count/deployments.apps=1, used: "+
					"count/deployments.apps=2, limited: count/deployments.apps=2")),
			"Deployment prod/web: the ResourceQuota small has no room: requested count/deployments.apps=1, used " +
				"count/deployments.apps=2, limited to count/deployments.apps=2\nnext step: raise the quota",
		},
		"a webhook that denies": {
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: 400, Reason: metav1.StatusReasonBadRequest,
				Message: `admission webhook "owners.example.com" denied the request: no owner label`}},
			"the admission webhook owners.example.com denied it: no owner label\nnext step: change the manifest",
		},
		"a webhook that does not answer": {
			apierrors.NewInternalError(
				errors.New(`failed calling webhook "owners.example.com": failed to call webhook: ` +
					`Post "https://x": dial tcp: connection refused`)),
			"the admission webhook owners.example.com does not answer: failed to call webhook",
		},
		"a policy": {
			apierrors.NewInvalid(gk, "web",
				field.ErrorList{field.Invalid(nil, "x",
					"ValidatingAdmissionPolicy 'replicas' with binding 'b' denied request: too many")}),
			"the ValidatingAdmissionPolicy replicas denied it: too many",
		},
		"what else forbids": {
			apierrors.NewForbidden(gr, "web", errors.New("no")),
			"Deployment prod/web: the API forbids it: ",
		},
		"credentials that ended": {apierrors.NewUnauthorized("no"),
			"the API does not take the credentials of the kubeconfig any more (401 Unauthorized); renew them"},
		"a namespace that leaves": {
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
				Message: "being terminated",
				Details: &metav1.StatusDetails{
					Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}},
				}}},
			"the namespace prod is being deleted, so nothing can be created in it\nnext step: deploy again when it " +
				"is gone",
		},
		"a field of another manager": {
			apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict,
				Field: ".spec.replica", Message: `conflict with "kubectl-edit" using apps/v1`}}, "conflict"),
			"web.yaml:7: Deployment prod/web: other managers have fields of it: spec.replica (of kubectl-edit)\n" +
				"next step: take these fields out of Git to leave them to their manager, or remove the annotation " +
				"pipecd.dev/server-side-apply",
		},
		"a missing namespace": {
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "prod"),
			"web.yaml:5: Deployment prod/web: the namespace \"prod\" does not exist\nnext step: create it, put it " +
				"among the manifests, or set input.namespace to it and input.autoCreateNamespace: true",
		},
		"a wrong type": {
			apierrors.NewBadRequest("failed to create typed patch object: .spec.replica: expected string, got " +
				"&value.valueUnstructured{Value:2}"),
			"web.yaml:7: Deployment prod/web: spec.replica: expected a string, got 2\nnext step: put the value in " +
				"quotes",
		},
		"anything else": {errors.New("connection reset"), "apply Deployment prod/web: connection reset"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := describe(tt.err, parse(t, web)[0], inquiry{})
			require.ErrorContains(t, err, tt.want)
			require.ErrorIs(t, err, tt.err)
		})
	}
}

func TestTheValueOfASecretIsNotShown(t *testing.T) {
	t.Parallel()
	m := parse(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  password: 12345\n")[0]
	err := describe(apierrors.NewBadRequest("failed to create typed patch object: .stringData.password: expected "+
		"string, got &value.valueUnstructured{Value:12345}"), m, inquiry{})
	require.EqualError(t, err, "web.yaml:5: Secret s: stringData.password: expected a string, got a number\n"+
		"next step: put the value in quotes")
}

func TestOnlyRequestsThatMaySucceedLaterAreRepeated(t *testing.T) {
	t.Parallel()
	quick := cluster.Retry{First: time.Microsecond, Tries: 3}
	count := func(errs ...error) (int, error) {
		n := 0
		err := quick.Do(t.Context(), retryable, func() error {
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
	held := apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict}}, "held")
	n, err = count(held)
	require.ErrorIs(t, err, held)
	require.Equal(t, 1, n, "another manager keeps his fields however often he is asked")
	n, err = count(apierrors.NewConflict(schema.GroupResource{}, "a", errors.New("modified")))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	bad := apierrors.NewBadRequest("bad")
	n, err = count(bad)
	require.ErrorIs(t, err, bad)
	require.Equal(t, 1, n)

	ctx, cancel := context.WithCancel(t.Context())
	err = cluster.Retry{First: time.Hour, Tries: 3}.Do(ctx, retryable, func() error { cancel(); return busy })
	require.ErrorIs(t, err, busy)
}
