// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// listRefusing lists in a cluster that answers with an error for a resource.
func listRefusing(t *testing.T, resource string, refusal error) ([]inventory.Item, []inventory.Skipped, error) {
	t.Helper()
	c, metadata := newClient(t, object("v1", "ConfigMap", "prod", "mine"))
	metadata.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, refusal
	})
	return inventory.List(t.Context(), c, inventory.Labels("app"), nil)
}

func webhookDead() error {
	return apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1, Kind=Wad failed: dial tcp " +
		"127.0.0.1:1: connect: connection refused"))
}

func TestAKindWhoseAnswerComesFromAnotherServerThatIsDeadHoldsNothingUp(t *testing.T) {
	t.Parallel()
	unavailable := apierrors.NewGenericServerResponse(503, "get", schema.GroupResource{}, "", "dial tcp: no\nroute", 0,
		true)
	for name, c := range map[string]struct {
		err    error
		reason string
	}{
		"conversion webhook": {webhookDead(), "conversion webhook for example.com/v1, Kind=Wad failed: dial tcp"},
		"aggregated API":     {unavailable, "dial tcp: no route"},
		"no message":         {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 503}}, "code 503 and no message"},
		"a whole page":       {apierrors.NewInternalError(errors.New(strings.Repeat("é", 900))), "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items, skipped, err := listRefusing(t, "wads", c.err)
			require.NoError(t, err)
			require.Equal(t, []string{":ConfigMap:prod:mine"}, keys(items))
			require.Len(t, skipped, 1)
			require.True(t, skipped[0].Unseen)
			require.Equal(t, "wads.example.com", skipped[0].Name())
			require.Contains(t, skipped[0].Reason, c.reason)
			require.Less(t, len(skipped[0].Reason), 500)
			require.Contains(t, inventory.Words(skipped), "wads.example.com (")
			require.True(t, skipped[0].Covers(manifest.Key{Group: "example.com", Kind: "Wad", Name: "x"}))
			require.False(t, skipped[0].Covers(manifest.Key{Group: "example.com", Kind: "Wadding", Name: "x"}))
		})
	}
}

func TestTheErrorOfTheAPIServerItselfStaysAnError(t *testing.T) {
	t.Parallel()
	store := apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	for name, c := range map[string]struct {
		resource string
		err      error
	}{
		"no answer":                {"wads", errors.New("dial tcp 127.0.0.1:6443: connect: connection refused")},
		"end of the stage":         {"wads", context.Canceled},
		"throttled":                {"wads", apierrors.NewTooManyRequests("slow down", 1)},
		"stopped by the server":    {"wads", apierrors.NewServerTimeout(schema.GroupResource{}, "list", 1)},
		"the store":                {"wads", store},
		"credentials":              {"wads", apierrors.NewUnauthorized("no")},
		"a kind of the API server": {"secrets", webhookDead()},
		"its definitions":          {"*", apierrors.NewServiceUnavailable("starting")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := listRefusing(t, c.resource, c.err)
			require.ErrorContains(t, err, c.err.Error())
		})
	}
}

func TestAnAPIThatDoesNotAnswerCoversAllOfItsKinds(t *testing.T) {
	t.Parallel()
	s := inventory.Skipped{Group: "example.com", Version: "v1", Reason: "stale", Unseen: true}
	require.Equal(t, "example.com/v1 (stale)", s.String())
	require.True(t, s.Covers(manifest.Key{Group: "example.com", Kind: "Wad", Name: "x"}))
	require.False(t, s.Covers(manifest.Key{Group: "other.example.com", Kind: "Wad", Name: "x"}))
}

func TestAKindThatHasGoneMeanwhileHasNoObjects(t *testing.T) {
	t.Parallel()
	gone := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound}}
	_, skipped, err := listRefusing(t, "wads", gone)
	require.NoError(t, err)
	require.Len(t, skipped, 1)
	require.False(t, skipped[0].Unseen)
}
