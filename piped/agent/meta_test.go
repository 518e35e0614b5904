// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
	"github.com/pipedeck/pipedeck/system/logtest"
)

// controlPlane answers with what the test wants.
type controlPlane struct {
	pipedservice.PipedServiceClient
	answers []error // to introductions, in turn
	seen    func()  // each introduction, before the answer
	meta    *pipedservice.ReportPipedMetaRequest
	handled []*pipedservice.ReportCommandHandledRequest
}

func (c *controlPlane) ReportPipedMeta(_ context.Context, r *pipedservice.ReportPipedMetaRequest,
	_ ...grpc.CallOption) (*pipedservice.ReportPipedMetaResponse, error) {
	c.meta = r
	if c.seen != nil {
		c.seen()
	}
	err := c.answers[0]
	c.answers = c.answers[1:]
	return &pipedservice.ReportPipedMetaResponse{Name: "test"}, err
}

func (c *controlPlane) ReportCommandHandled(_ context.Context, r *pipedservice.ReportCommandHandledRequest,
	_ ...grpc.CallOption) (*pipedservice.ReportCommandHandledResponse, error) {
	c.handled = append(c.handled, r)
	return &pipedservice.ReportCommandHandledResponse{}, nil
}

const piped = `apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: project
  pipedID: piped
  pipedKeyData: dGhlIHNlY3JldCBrZXk=
  apiAddress: 127.0.0.1:1
  git:
    username: ann
    password: c2VjcmV0IHBhc3N3b3Jk
  repositories:
    - repoId: local
      remote: file:///repository
      branch: main
  plugins:
    - name: kubernetes
      url: file:///plugin
      deployTargets:
        - name: local
`

func parsed(t *testing.T) *config.Piped {
	t.Helper()
	c, err := config.ParsePiped([]byte(piped), "piped.yaml")
	require.NoError(t, err)
	return c
}

func TestTheIntroductionNamesTheConfigurationWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	c := &controlPlane{answers: []error{nil}}
	require.NoError(t, introduction{controlPlane: c, piped: parsed(t), version: "v1", timer: clocktest.Eager{},
		logger: slog.New(slog.DiscardHandler)}.send(t.Context()))
	require.Equal(t, "v1", c.meta.GetVersion())
	require.Equal(t, "local", c.meta.GetRepositories()[0].GetId())
	require.Equal(t, []string{"local"}, c.meta.GetPlugins()[0].GetDeployTargets())
	require.Contains(t, c.meta.GetConfig(), "pipedID: piped")
	for _, secret := range []string{"dGhlIHNlY3JldCBrZXk=", "c2VjcmV0IHBhc3N3b3Jk"} {
		require.NotContains(t, c.meta.GetConfig(), secret)
	}
}

func TestAnIntroductionIsTriedAgainUnlessItIsRefused(t *testing.T) {
	t.Parallel()
	logger := slog.New(slog.DiscardHandler)
	absent := status.Error(codes.Unavailable, "no one is there")
	c := &controlPlane{answers: []error{absent, nil}}
	require.NoError(t, introduction{controlPlane: c, piped: parsed(t), version: "v1", timer: clocktest.Eager{},
		logger: logger}.send(t.Context()))
	require.Empty(t, c.answers)

	for code, want := range map[codes.Code]string{
		codes.Unauthenticated: "check projectID, pipedID and the piped key",
		codes.Unimplemented:   "check that apiAddress names a PipeCD control plane",
	} {
		c := &controlPlane{answers: []error{status.Error(code, "no")}}
		require.ErrorContains(t, introduction{controlPlane: c, piped: parsed(t), version: "v1",
			timer: clocktest.Eager{}, logger: logger}.send(t.Context()), want)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, introduction{controlPlane: &controlPlane{answers: []error{absent}}, piped: parsed(t),
		version: "v1", timer: clocktest.Eager{}, logger: logger}.send(ctx), "a stop is no failure")
}

func TestTheFirstWordIsWhatPipedConnectsTo(t *testing.T) {
	t.Parallel()
	var log logtest.Buffer
	before := ""
	c := &controlPlane{answers: []error{nil}, seen: func() { before = log.String() }}
	require.NoError(t, introduction{controlPlane: c, piped: parsed(t), version: "v1", timer: clocktest.Eager{},
		logger: slog.New(slog.NewTextHandler(&log, nil))}.send(t.Context()))
	require.Contains(t, before, `msg="connecting to the control plane" address=127.0.0.1:1`)
}

func TestGitSecretsAreDecodedAndNeverShown(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte("secret"))
	password, key, err := gitSecrets(config.Git{Password: encoded, SSHKeyData: encoded})
	require.NoError(t, err)
	require.Equal(t, "secret", password)
	require.Equal(t, "secret", string(key))

	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("in a file"), 0o600))
	_, key, err = gitSecrets(config.Git{SSHKeyFile: file})
	require.NoError(t, err)
	require.Equal(t, "in a file", string(key))

	for name, c := range map[string]config.Git{
		"spec.git.password":   {Password: "not-base64!"},
		"spec.git.sshKeyData": {SSHKeyData: "not-base64!"},
		"spec.git.sshKeyFile": {SSHKeyFile: "/no/such/file"},
	} {
		_, _, err := gitSecrets(c)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "not-base64!")
	}
}

func TestOneProcessUsesAWorkDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lock(dir)
	require.NoError(t, err)
	_, err = lock(dir)
	require.ErrorContains(t, err, "--work-dir")
	unlock()
	unlock, err = lock(dir)
	require.NoError(t, err)
	unlock()
}

func TestPipedRefusesAWorkDirectoryOfAnotherUser(t *testing.T) {
	t.Parallel()
	// A repository of the user's with a folder of that name: piped would have emptied the folder.
	theirs := filepath.Join(t.TempDir(), "sources", "main.c")
	require.NoError(t, os.MkdirAll(filepath.Dir(theirs), 0o755))
	require.NoError(t, os.WriteFile(theirs, []byte("dear"), 0o600))
	_, err := New(Options{Config: &config.Piped{}, WorkDir: filepath.Dir(filepath.Dir(theirs))})
	require.ErrorContains(t, err, "was not created by pipedeck and is not empty")
	require.FileExists(t, theirs)
}
