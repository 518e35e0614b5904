// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// movable is a clock that a test moves while a server reads it.
type movable struct{ seconds atomic.Int64 }

func newClock() *movable {
	m := &movable{}
	m.seconds.Store(1_795_230_000)
	return m
}

func (m *movable) config(c *controlplane.Config) {
	c.Now = func() time.Time { return time.Unix(m.seconds.Load(), 0) }
}

func TestListsArePagedAndFiltered(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := testContext(t)
	for i := range 25 {
		p.importApplication(fmt.Sprintf("app-%02d", i), fmt.Sprintf("name-%02d", i))
	}
	seen := map[string]bool{}
	cursor, pages := "", 0
	for {
		r, err := p.api.ListApplications(ctx, &apiservice.ListApplicationsRequest{Limit: 10, Cursor: cursor})
		require.NoError(t, err)
		for _, a := range r.GetApplications() {
			require.False(t, seen[a.GetId()])
			seen[a.GetId()] = true
		}
		pages++
		if cursor = r.GetCursor(); cursor == "" {
			break
		}
	}
	require.Len(t, seen, 25)
	require.Equal(t, 3, pages)
	_, err := p.api.ListApplications(ctx, &apiservice.ListApplicationsRequest{Cursor: "nonsense"})
	requireCode(t, codes.InvalidArgument, err)
	_, err = p.api.ListApplications(ctx, &apiservice.ListApplicationsRequest{Kind: "nonsense"})
	requireCode(t, codes.InvalidArgument, err)

	p.importApplication(id("2"), "ws")
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
	list := func(r *apiservice.ListDeploymentsRequest) int {
		answer, err := p.api.ListDeployments(ctx, r)
		require.NoError(t, err)
		return len(answer.GetDeployments())
	}
	require.Equal(t, 1, list(&apiservice.ListDeploymentsRequest{}))
	require.Equal(t, 1, list(&apiservice.ListDeploymentsRequest{Statuses: []string{"SUCCESS"}, ApplicationName: "ws"}))
	require.Equal(t, 1, list(&apiservice.ListDeploymentsRequest{Statuses: []string{"DEPLOYMENT_SUCCESS"},
		ApplicationIds: []string{id("2")}}))
	require.Zero(t, list(&apiservice.ListDeploymentsRequest{Statuses: []string{"RUNNING"}}))
	require.Zero(t, list(&apiservice.ListDeploymentsRequest{Labels: map[string]string{"a": "b"}}))
	_, err = p.api.ListDeployments(ctx, &apiservice.ListDeploymentsRequest{Statuses: []string{"nonsense"}})
	requireCode(t, codes.InvalidArgument, err)
}

func TestPlanPreviewResultsSayWhyThereAreNone(t *testing.T) {
	t.Parallel()
	clock := newClock()
	p := start(t, clock.config)
	ctx := testContext(t)
	newReplayer(t).play(p.pipedConn, recording(t, "a0")[:1], nil)
	request := func() string {
		r, err := p.api.RequestPlanPreview(ctx, &apiservice.RequestPlanPreviewRequest{
			RepoRemoteUrl: "file:///srv/pipe/run/R/repo.git", HeadBranch: "f", HeadCommit: "c", BaseBranch: "main",
			Timeout: 300,
		})
		require.NoError(t, err)
		require.Len(t, r.GetCommands(), 1)
		return r.GetCommands()[0]
	}
	result := func(command string) (*model.PlanPreviewCommandResult, error) {
		r, err := p.api.GetPlanPreviewResults(ctx,
			&apiservice.GetPlanPreviewResultsRequest{Commands: []string{command}, CommandHandleTimeout: 300})
		if err != nil {
			return nil, err
		}
		return r.GetResults()[0], nil
	}
	command := request()
	_, err := result(command)
	requireCode(t, codes.NotFound, err)
	require.ErrorContains(t, err, "Waiting for result")

	clock.seconds.Add(150)
	r, err := result(command)
	require.NoError(t, err)
	require.Equal(t, "Maybe Piped is offline currently.", r.GetError())

	clock.seconds.Add(200)
	_, err = p.piped.ReportStat(ctx, &pipedservice.ReportStatRequest{})
	require.NoError(t, err)
	r, err = result(command)
	require.NoError(t, err)
	require.Contains(t, r.GetError(), "Timed out")

	command = request()
	_, err = p.piped.ReportCommandHandled(ctx, &pipedservice.ReportCommandHandledRequest{
		CommandId: command, Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: clock.seconds.Load(),
		Output: []byte(`{"command_id":"` + command + `","piped_id":"` + pipedID +
			`","results":[{"application_id":"a","sync_strategy":2}]}`),
	})
	require.NoError(t, err)
	r, err = result(command)
	require.NoError(t, err)
	require.Equal(t, model.SyncStrategy_PIPELINE, r.GetResults()[0].GetSyncStrategy())
	clock.seconds.Add(25 * 60 * 60)
	_, err = result(command)
	requireCode(t, codes.FailedPrecondition, err)
	_, err = result("nope")
	requireCode(t, codes.NotFound, err)
}

func TestPipedIsOnlineWhileItCalls(t *testing.T) {
	t.Parallel()
	clock := newClock()
	p := start(t, clock.config)
	get := func() model.Piped_ConnectionStatus {
		r, err := p.api.GetPiped(testContext(t), &apiservice.GetPipedRequest{PipedId: pipedID})
		require.NoError(t, err)
		return r.GetPiped().GetStatus()
	}
	require.Equal(t, model.Piped_OFFLINE, get())
	_, err := p.piped.ReportStat(testContext(t), &pipedservice.ReportStatRequest{})
	require.NoError(t, err)
	require.Equal(t, model.Piped_ONLINE, get())
	clock.seconds.Add(121)
	require.Equal(t, model.Piped_OFFLINE, get())
	p.connect(t)
	clock.seconds.Add(1000)
	require.Equal(t, model.Piped_ONLINE, get(), "a connected piped is online without calling")
}

func TestASecretCanBeReadWithThePipedsKeyOnly(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := testContext(t)
	_, err := p.api.Encrypt(ctx, &apiservice.EncryptRequest{PipedId: pipedID, Plaintext: "s"})
	requireCode(t, codes.FailedPrecondition, err)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	_, err = p.piped.ReportPipedMeta(ctx,
		&pipedservice.ReportPipedMetaRequest{SecretEncryption: &model.Piped_SecretEncryption{
			Type: "KEY_PAIR", PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
		}})
	require.NoError(t, err)
	for encoded, want := range map[bool]string{false: "my secret", true: "bXkgc2VjcmV0"} {
		r, err := p.api.Encrypt(ctx, &apiservice.EncryptRequest{PipedId: pipedID, Plaintext: "my secret",
			Base64Encoding: encoded})
		require.NoError(t, err)
		require.Equal(t, want, decrypt(t, key, r.GetCiphertext()))
	}
}

// decrypt reads a secret as piped does.
func decrypt(t *testing.T, key *rsa.PrivateKey, text string) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	n := int(binary.BigEndian.Uint16(data))
	secret, err := rsa.DecryptOAEP(sha256.New(), nil, key, data[2:2+n], nil)
	require.NoError(t, err)
	block, err := aes.NewCipher(secret)
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	plain, err := gcm.Open(nil, make([]byte, gcm.NonceSize()), data[2+n:], nil)
	require.NoError(t, err)
	return string(plain)
}
