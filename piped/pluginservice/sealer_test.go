// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

// key is a decrypter of which only the key matters.
type key string

func (k key) Decrypt(string) (string, error) { return "", nil }
func (k key) PublicKey() string              { return "" }
func (k key) Sensitive() []string            { return []string{string(k)} }

const secret = "open sesame"

// piped is one that knows the secret, over a control plane that outlasts it.
func piped(t *testing.T, plane *upstream, k key) *Server {
	t.Helper()
	masker := secrets.NewMasker()
	require.NoError(t, masker.Add(secret))
	sealer, err := secrets.NewSealer(k, masker)
	require.NoError(t, err)
	address := controlplanetest.Serve(t, func(ctx context.Context, method string, request proto.Message) (
		proto.Message, error,
	) {
		switch r := request.(type) {
		case *pipedservice.SaveStageMetadataRequest:
			return plane.SaveStageMetadata(ctx, r)
		case *pipedservice.SaveDeploymentPluginMetadataRequest:
			return plane.SaveDeploymentPluginMetadata(ctx, r)
		default:
			return nil, status.Error(codes.Unimplemented, method)
		}
	})
	client := controlplanetest.Dial(t, address, controlplane.Layers{Secrets: secrets.Reports(masker)})
	return &Server{
		leaving: t.Context(),
		options: Options{
			ControlPlane: client, Registry: NewSealingRegistry(sealer, slog.New(slog.DiscardHandler)),
			Logger: slog.New(slog.DiscardHandler),
		},
	}
}

func TestAPluginReadsBackWhatItStoredAlsoFromTheNextPiped(t *testing.T) {
	t.Parallel()
	plane := &upstream{stages: map[string]map[string]string{}, plugins: map[string]map[string]string{}}
	private := key(rand.Text())
	first := piped(t, plane, private)
	first.options.Registry.Add(&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s"}}})
	put := func(s *Server, key, value string) {
		t.Helper()
		_, err := s.PutStageMetadata(
			t.Context(),
			&pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: key, Value: value},
		)
		require.NoError(t, err)
	}
	put(first, "token", "Bearer "+secret)
	put(first, "plain", "7")
	_, err := first.PutDeploymentPluginMetadata(
		t.Context(),
		&pluginservice.PutDeploymentPluginMetadataRequest{
			DeploymentId: "d", PluginName: "p", Key: "token", Value: secret,
		},
	)
	require.NoError(t, err)
	require.Equal(t, "Bearer ******", plane.stages["s"]["token"], "what users see")
	require.Equal(t, "******", plane.plugins["p"]["token"])
	require.NotContains(t, fmt.Sprint(plane.stages, plane.plugins), secret)

	stored := func() *model.Deployment {
		return &model.Deployment{
			Id: "d", Stages: []*model.PipelineStage{{Id: "s", Metadata: maps.Clone(plane.stages["s"])}},
			MetadataV2: &model.DeploymentMetadata{
				Plugins: map[string]*model.DeploymentMetadata_KeyValues{
					"p": {KeyValues: maps.Clone(plane.plugins["p"])},
				},
			},
		}
	}
	next := piped(t, plane, private)
	next.options.Registry.Add(stored())
	all, stages := next.options.Registry.Metadata("d")
	require.Equal(
		t, map[string]string{"token": "Bearer " + secret, "plain": "7"}, stages["s"],
		"and nothing that plugins do not know",
	)
	require.Equal(t, secret, all.GetPlugins()["p"].GetKeyValues()["token"])
	answer, err := next.GetStageMetadata(
		t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "token"},
	)
	require.NoError(t, err)
	require.Equal(t, "Bearer "+secret, answer.GetValue())

	put(next, "token", "used up") // holds no secret any more
	third := piped(t, plane, private)
	third.options.Registry.Add(stored())
	_, stages = third.options.Registry.Metadata("d")
	require.Equal(t, map[string]string{"token": "used up", "plain": "7"}, stages["s"])
}

func TestWithAnotherKeyTheMaskIsRead(t *testing.T) {
	t.Parallel()
	plane := &upstream{stages: map[string]map[string]string{}}
	first := piped(t, plane, key(rand.Text()))
	first.options.Registry.Add(&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s"}}})
	_, err := first.PutStageMetadata(
		t.Context(),
		&pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "token", Value: secret},
	)
	require.NoError(t, err)
	next := piped(t, plane, key(rand.Text()))
	next.options.Registry.Add(
		&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s", Metadata: plane.stages["s"]}}},
	)
	_, stages := next.options.Registry.Metadata("d")
	require.Equal(t, map[string]string{"token": "******"}, stages["s"])
}
