// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"errors"
	"io"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// attacher shows what a container writes from now on. Its standard input is empty, so that there is nothing to type
// into.
type attacher struct {
	running Running
	log     string
}

var _ remotecommand.Attacher = attacher{}

// AttachContainer implements remotecommand.Attacher. The container and the pod are known already.
func (a attacher) AttachContainer(
	ctx context.Context, _, _, _ string, _ io.Reader, out, errOut io.WriteCloser, _ bool,
	_ <-chan remotecommand.TerminalSize,
) error {
	var to io.Writer = out
	if out == nil {
		if errOut == nil {
			return errors.New("there is nothing to attach to: the container's standard input is empty")
		}
		to = errOut
	}
	writer := &logWriter{to: to, options: logOptions{tail: 0, limit: -1}, flush: func() {}}
	if err := readLog(ctx, a.log, a.running.Done, writer); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
