// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	// askTimeout bounds one question, such as all applications of a repository.
	askTimeout = 2 * time.Minute
	// askGrace is for the output of processes that the program leaves behind.
	askGrace = time.Second
	// maxAnswer bounds the answers, in bytes, and maxComplaint what the program says of its failure.
	maxAnswer, maxComplaint = 64 << 20, 4 << 10
)

// askKubernetes asks the program of the bundled kubernetes plugin, whose libraries pipedeck does not have. The answer
// may be a part of it; problem says why then. The error is that of an interrupted command.
func askKubernetes(ctx context.Context, argument string, input []byte) (answer io.Reader, problem string, err error) {
	bin, err := pluginflag.ProgramDir()
	if err != nil {
		return nil, "", err
	}
	program := filepath.Join(bin, "plugins", "kubernetes")
	bounded, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answers, complaint := pluginflag.NewBoundedBuffer(maxAnswer), pluginflag.NewBoundedBuffer(maxComplaint)
	cmd := exec.CommandContext(bounded, program, argument) //nolint:gosec // a program of this installation
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(input), answers, complaint, askGrace
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, "", exit.Silent(exit.Interrupted)
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		problem = program + " does not exist; build it with: make build"
	case bounded.Err() != nil:
		problem = fmt.Sprintf("it took more than %s", askTimeout)
	default:
		problem = strings.TrimSpace(fmt.Sprintf("%s: %v: %s", program, err, text.Line(complaint.String())))
	}
	return bytes.NewReader(answers.Bytes()), problem, nil
}
