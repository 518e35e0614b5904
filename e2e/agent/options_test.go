// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestTheLaunchersCommandLineWorks(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	args := append(e.flags(
		"piped",
	), "--config-file="+e.config, "--launcher-version=v0.57.1", "--metrics=true", "--log-encoding=json",
		"--log-level=info", "--add-login-user-to-passwd=false", "--enable-default-kubernetes-cloud-provider=false")
	p := execute(t, nil, args...)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 0).GetStatus())
	p.terminate(t)
	first, _, _ := strings.Cut(p.output.String(), "\n")
	var line struct {
		EventTime         float64
		Severity, Message string
		ServiceContext    struct{ Service, Version string }
	}
	require.NoError(t, json.Unmarshal([]byte(first), &line), first)
	require.Equal(t, "INFO", line.Severity)
	require.NotEmpty(t, line.Message)
	require.WithinDuration(t, time.Now(), time.Unix(int64(line.EventTime), 0), time.Hour)
	require.Equal(t, "piped", line.ServiceContext.Service)
}

func TestConfigurationOnTheCommandLine(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	text, err := os.ReadFile(e.config)
	require.NoError(t, err)
	execute(t, nil, append(e.flags("run"), "--config-data", base64.StdEncoding.EncodeToString(text))...)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 0).GetStatus())
}

func TestNoSourceOfTheConfigurationEndsWithCode2AndTheNextStep(t *testing.T) {
	t.Parallel()
	p := execute(t, nil, "run")
	require.Equal(t, 2, p.exit(t))
	require.Contains(
		t, p.output.String(),
		"give --config-file FILE (or one of --config-data, --config-gcp-secret, --config-aws-secret, "+
			"--config-aws-ssm-parameter)",
	)
}

func TestWithoutMetricsThereAreNone(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	p := e.start(t, "--metrics=false")
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 0).GetStatus())
	status, body := p.admin(t, "/metrics")
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, body)
	status, body = p.admin(t, "/healthz")
	require.Equal(t, http.StatusOK, status, body)
}

func TestProfilesOverTheAdminPort(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	p := e.start(t)
	status, body := p.admin(t, "/debug/pprof/goroutine?debug=1")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "goroutine profile: total")
	status, _ = p.admin(t, "/debug/pprof/cmdline")
	require.Equal(t, http.StatusNotFound, status, "the command line may hold the configuration")
}

func TestPluginCopiesAreCreatedAgainWhenForced(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	first := e.start(t)
	e.deck.awaitEnd(t, 0)
	first.terminate(t)
	copies, err := filepath.Glob(filepath.Join(e.dir, "work", "plugins", "p-*"))
	require.NoError(t, err)
	require.Len(t, copies, 1)
	require.NoError(t, os.WriteFile(copies[0], []byte("damaged"), 0o755))
	e.commit(t, "second", pipeline("{}", "{}"))
	e.start(t, "--force-plugin-redownload")
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 1).GetStatus())
}

func TestTheUserIsAddedToPasswdOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "passwd")
	require.NoError(t, os.WriteFile(path, []byte("other:x:4000000000:0::/:/bin/sh"), 0o600))
	for range 2 {
		p := execute(t, []string{"HOME=" + home}, "run", "--add-login-user-to-passwd", "--config-file", "/no/such/file")
		require.Equal(t, 2, p.exit(t), "%s", p.output)
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	want := fmt.Sprintf("default:x:%d:%d:Dynamically created user:%s:/sbin/nologin", os.Getuid(), os.Getgid(), home)
	require.Equal(t, 1, strings.Count(string(got), want), "%s", got)
	require.True(t, strings.HasPrefix(string(got), "other:x:4000000000:0::/:/bin/sh\n"), "%s", got)
}
