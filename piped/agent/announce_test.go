// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

func TestOptionsOfAStageAreReportedOnlyToOurControlPlaneAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	masker := secrets.NewMasker()
	release, err := masker.Hold("correct horse")
	require.NoError(t, err)
	defer release()
	run := &agentv1.StageRun{Plugin: "scriptrun", Config: []byte(`{"run": "login 'correct horse'"}`)}
	require.Nil(t, announce(func() bool { return false }, masker)(run), "PipeCD's control plane does not read it")
	said := announce(func() bool { return true }, masker)(run)
	require.Equal(t, "scriptrun", said.GetPlugin())
	require.JSONEq(t, `{"run": "login '******'"}`, string(said.GetConfig()))
}
