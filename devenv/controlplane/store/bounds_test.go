// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestADeploymentIsBoundedWhateverIsReported(t *testing.T) {
	t.Parallel()
	const bound = 100_000
	text := strings.Repeat("x", 30_000)
	notes := func(key string) map[string]string { return map[string]string{key: text} }
	for name, report := range map[string]func(s *store.Store, stage, key string) error{
		"stage metadata": func(s *store.Store, stage, key string) error {
			return s.Deployments.MergeStageMetadata(piped, "d", stage, notes(key))
		},
		"plugin metadata": func(s *store.Store, _, key string) error {
			return s.Deployments.MergePluginMetadata(piped, "d", "p", notes(key))
		},
		"shared metadata": func(s *store.Store, _, key string) error {
			return s.Deployments.MergeSharedMetadata(piped, "d", notes(key))
		},
		"metadata of v0": func(s *store.Store, _,
			key string) error {
			return s.Deployments.MergeMetadata(piped, "d", notes(key))
		},
	} {
		s, _ := newStore(store.Limits{DeploymentBytes: bound})
		importApplication(s, "a", nil)
		stage := run(t, s, "d", "a")
		for i := range 3 {
			require.NoError(t, report(s, stage, fmt.Sprint(i)), name)
		}
		err := report(s, stage, "3")
		requireCode(t, codes.InvalidArgument, err)
		require.ErrorContains(t, err, "at most 100000 are kept", name)
		require.NoError(t, report(s, stage, "2"), "%s: a value may be replaced", name)
		d, err := s.Deployments.OfPiped(piped, "d")
		require.NoError(t, err)
		require.LessOrEqual(t, proto.Size(d), bound, name)
	}

	s, _ := newStore(store.Limits{DeploymentBytes: bound})
	importApplication(s, "a", nil)
	large := newDeployment("large", "a")
	large.Labels = map[string]string{"x": strings.Repeat("x", bound)}
	requireCode(t, codes.InvalidArgument, s.Deployments.Create(piped, large))
	require.NoError(t, s.Deployments.Create(piped, newDeployment("d", "a")))
	requireCode(t, codes.InvalidArgument,
		s.Deployments.ReportPlanned(piped, &pipedservice.ReportDeploymentPlannedRequest{
			DeploymentId: "d", Stages: []*model.PipelineStage{{Id: "s", Name: "WAIT",
				Desc: strings.Repeat("x", bound)}},
		}))
	require.NoError(t, s.Deployments.ReportStatus(piped, "d", model.DeploymentStatus_DEPLOYMENT_RUNNING,
		strings.Repeat("ä", bound)))
	d, err := s.Deployments.OfPiped(piped, "d")
	require.NoError(t, err)
	require.Less(t, proto.Size(d), bound, "a long reason is cut")

	s, _ = newStore(store.Limits{SharedObjectBytes: 10})
	importApplication(s, "a", nil)
	require.NoError(t, s.Objects.Put(piped, "a", "p", "k", []byte("1234567890")))
	requireCode(t, codes.InvalidArgument, s.Objects.Put(piped, "a", "p", "k", []byte("12345678901")))
}
