// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

func TestAllRequestsOfARunAreAboutOneApplication(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, want string }{{"", standin.ApplicationID}, {"application-a", "application-a"}} {
		s := &suite{scratch: t.TempDir(), source: &common.DeploymentSource{ApplicationDirectory: t.TempDir()},
			options: Options{ApplicationID: c.given}}
		stage, err := s.request("WORK", "stage-1")
		require.NoError(t, err)
		require.Equal(t, c.want, stage.GetInput().GetDeployment().GetApplicationId())
		require.Equal(t, c.want, s.liveRequest(s.source, nil).GetApplicationId())
		require.Equal(t, c.want, s.previewRequest(s.source, nil, nil).GetApplicationId())
	}
}
