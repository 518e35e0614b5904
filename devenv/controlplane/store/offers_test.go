// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestAnOfferStaysAsItWasReported(t *testing.T) {
	t.Parallel()
	all := newOffers()
	_, err := all.of("a")
	require.Equal(t, codes.NotFound, status.Code(err))

	reported := &model.Piped{Id: "a", Repositories: []*model.ApplicationGitRepository{{Id: "r", Remote: "/srv/r"}}}
	all.put(reported)
	before, err := all.of("a")
	require.NoError(t, err)
	reported.Repositories = nil
	all.put(reported)
	require.Equal(t, "/srv/r", before.repository("r").GetRemote(), "a caller may still use it")
	after, err := all.of("a")
	require.NoError(t, err)
	require.Nil(t, after.repository("r"))
}

func TestAPlatformProviderIsChosenByKindAndLabel(t *testing.T) {
	t.Parallel()
	offered := offer{&model.Piped{
		PlatformProviders: []*model.Piped_PlatformProvider{
			{Name: "aws", Type: "ECS"}, {Name: "first", Type: "KUBERNETES"}, {Name: "second", Type: "KUBERNETES"},
		},
		CloudProviders: []*model.Piped_CloudProvider{{Name: "old", Type: "TERRAFORM"}},
	}}
	for _, c := range []struct {
		kind  model.ApplicationKind
		label string
		want  string
	}{
		{model.ApplicationKind_KUBERNETES, "", "first"},
		{model.ApplicationKind_KUBERNETES, "second", "second"},
		{model.ApplicationKind_KUBERNETES, "aws", ""},
		{model.ApplicationKind_ECS, "", "aws"},
		{model.ApplicationKind_TERRAFORM, "", "old"},
		{model.ApplicationKind_LAMBDA, "", ""},
	} {
		labels := map[string]string{}
		if c.label != "" {
			labels[TargetLabel] = c.label
		}
		require.Equal(t, c.want, offered.platformProvider(c.kind, labels), "%s %q", c.kind, c.label)
	}
}
