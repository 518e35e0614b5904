// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"errors"
	"io"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// attacher shows what a container writes from now on, and writes to its standard input where it has one.
type attacher struct {
	inside Inside
	output Output
}

var _ remotecommand.Attacher = attacher{}

// AttachContainer implements remotecommand.Attacher. The container and the pod are known already.
func (a attacher) AttachContainer(
	ctx context.Context, _, _, _ string, in io.Reader, out, errOut io.WriteCloser, _ bool,
	_ <-chan remotecommand.TerminalSize,
) error {
	var to io.Writer = io.Discard
	switch {
	case out != nil:
		to = out
	case errOut != nil:
		to = errOut
	case a.inside.Stdin == nil:
		return errors.New("there is nothing to attach to: the container's standard input is empty")
	}
	if in != nil && a.inside.Stdin != nil {
		go func() {
			_, _ = io.Copy(a.inside.Stdin, in) // ends with the client's input, or with the container
			_ = a.inside.Stdin.Close()
		}()
	}
	writer := &logWriter{to: to, options: logOptions{tail: 0, limit: -1}, flush: func() {}}
	if err := readLog(ctx, a.output, writer); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
