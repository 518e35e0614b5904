// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// program stands in for pipedeck: it answers commands by their first words.
type program struct {
	ran     chan []string
	answers map[string]string
}

func (p *program) command(_ context.Context, args []string) (out, said string, err error) {
	p.ran <- args
	for words, answer := range p.answers {
		if strings.Contains(strings.Join(args, " "), words) {
			return answer, answer, nil
		}
	}
	return "", "", errors.New("no such thing; next step: look elsewhere")
}

const oneCall = `{"schema": 1, "calls": [{"id": "ab12-7", "direction": "TO_PIPED", "plugin": "waitapproval",
	"method": "/grpc.piped.service.PluginService/InstallTool", "stage_name": "WAIT_APPROVAL", "code": "NotFound",
	"detail": "no tool kubectl", "millis": 2, "request": {"name": "kubectl", "token": "******"}}]}`

func TestACallOfTheInspectorIsShownCopiedAndSaved(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	all := calls()
	last := all[len(all)-1]
	last.Id = "ab12-7"
	server.Run("s3", &deckv1.GetStageRunResponse{Calls: all})
	p := &program{ran: make(chan []string, 9), answers: map[string]string{
		"-o json": oneCall, "--as grpcurl": "grpcurl -d @\n",
		"--as gotest":    "wrote stage_test.go and testdata/stage.jsonl; run it with: go test ./...",
		"--as recording": "wrote 3 calls to stage.jsonl",
	}}
	dir := t.TempDir()
	o := session{client: dial(t, server), width: 120, height: 40, command: p.command, saveDir: dir}
	s := o.start(t, t.Context())
	s.seesText("press a to approve")
	s.types("i")
	s.seesText("InstallTool")
	s.types("m")
	s.seesText("A call about the stage", "< InstallTool  NotFound no tool kubectl")
	s.types("1")
	s.seesText("Call InstallTool", "plugin waitapproval to piped", "no tool kubectl", `"token": "******"`, "Go test")
	require.Equal(t, []string{"plugin", "calls", "ab12-7", "-o", "json"}, <-p.ran)

	s.types("y")
	s.seesText("copied the call")
	s.types("c")
	s.seesText("copied the command of grpcurl")
	require.Equal(t, []string{"plugin", "calls", "ab12-7", "--as", "grpcurl"}, <-p.ran)
	s.types("t")
	s.seesText("wrote stage_test.go and testdata/stage.jsonl")
	require.Equal(t, []string{"plugin", "calls", "ab12-7", "--as", "gotest", "--file",
		filepath.Join(dir, "wait_approval_ab12_7_test.go")}, <-p.ran)
	s.types("w")
	s.seesText("wrote 3 calls to stage.jsonl")
	require.Equal(t, filepath.Join(dir, "wait_approval-ab12-7.jsonl"), (<-p.ran)[6])
	s.types("\x1b")
	s.losesText("Call InstallTool")
}

func TestACallThatPipedForgotSaysSo(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	m.host.cfg.Command = (&program{ran: make(chan []string, 1)}).command
	m.Update(callsOf(&m.actions).read("ab12-7")())
	require.Equal(t, "cannot show the call: no such thing; next step: look elsewhere", m.toast.text)
	m.key("i", "m")
	require.Contains(t, m.View().Content, "piped remembers no call about this stage")
}
