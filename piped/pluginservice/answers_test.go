// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

func TestWhatIsNotKeptIsAnsweredAsItIsNow(t *testing.T) {
	t.Parallel()
	registry := NewRegistry()
	defer registry.Add(&model.Deployment{Id: "d", ApplicationId: "a"})()
	calls := 0
	s := &Server{options: Options{Registry: registry, Answers: map[string]Answer{
		InGitMetadataKey: func(_ context.Context, d *model.Deployment) (string, bool, error) {
			require.Equal(t, "a", d.GetApplicationId())
			if calls++; calls > 1 {
				return "", false, errors.New("no Git")
			}
			return "commit", true, nil
		},
	}}}
	request := &pluginservice.GetDeploymentSharedMetadataRequest{DeploymentId: "d", Key: InGitMetadataKey}
	answer, err := s.GetDeploymentSharedMetadata(t.Context(), request)
	require.NoError(t, err)
	require.True(t, answer.GetFound())
	require.Equal(t, "commit", answer.GetValue())
	_, err = s.GetDeploymentSharedMetadata(t.Context(), request)
	require.ErrorContains(t, err, "no Git")
}
