// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/reattach"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

var pasteReady = regexp.MustCompile(`^export PIPEDECK_REATTACH='p=(127\.0\.0\.1:\d+),pid=(\d+),token=(\w+)'\n$`)

func connect(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestAProcessThatItsAuthorHasStartedWorksForOnePipedAfterTheOther(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	command := exec.Command(os.Args[0], "reattach", "-name", "p")
	command.Env = append(os.Environ(), actAsEnv+"=stages", "HOME="+home, "XDG_CACHE_HOME="+home)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	said := pasteReady.FindStringSubmatch(line)
	require.Equal(t, 4, len(said))
	announcements, err := filepath.Glob(filepath.Join(home, "*", "*", "p.json"))
	require.NoError(t, err)
	if len(announcements) == 0 { // macOS
		announcements, err = filepath.Glob(filepath.Join(home, "Library", "Caches", "*", "*", "p.json"))
		require.NoError(t, err)
	}
	require.Equal(t, 1, len(announcements))
	info, err := os.Stat(announcements[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	client := reattach.NewReattachServiceClient(connect(t, said[1]))
	attach := func(token string) (*reattach.AttachResponse, func(), error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		t.Cleanup(cancel)
		stream, err := client.Attach(ctx, &reattach.AttachRequest{
			Token: token, Config: `{"name":"p"}`, PipedPluginService: "localhost:1",
		})
		require.NoError(t, err)
		answer, err := stream.Recv()
		return answer, cancel, err
	}
	_, _, err = attach("wrong")
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	answer, leave, err := attach(said[3])
	require.NoError(t, err)
	require.Equal(t, said[2], fmt.Sprint(answer.GetPid()))
	stages, err := deployment.NewDeploymentServiceClient(connect(t, answer.GetAddress())).
		FetchDefinedStages(t.Context(), &deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true))
	require.NoError(t, err)
	require.True(t, len(stages.GetStages()) > 0)
	_, _, err = attach(said[3])
	require.Equal(t, codes.FailedPrecondition, status.Code(err))

	leave() // the next one follows as soon as the work for this one has ended
	for deadline := time.Now().Add(time.Minute); ; {
		_, leave, err = attach(said[3])
		if err == nil || time.Now().After(deadline) {
			break
		}
	}
	require.NoError(t, err)
	leave()
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, command.Wait())
	_, err = os.Stat(announcements[0])
	require.True(t, os.IsNotExist(err))
}
