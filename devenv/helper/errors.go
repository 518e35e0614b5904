// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// endTime is how long it may take until the end of a program is known after its socket has ended.
const endTime = 2 * time.Second

// Encode makes an error ready to be sent. The server of a Helper calls it.
func Encode(err error) error {
	if err == nil {
		return nil
	}
	text := strings.ToValidUTF8(err.Error(), "?")
	failure := &helperv1.Failure{Text: text}
	var hinted *cluster.HintError
	if errors.As(err, &hinted) {
		failure.Hint, failure.Usage = strings.ToValidUTF8(hinted.Hint, "?"), hinted.Usage
	}
	for name, known := range cluster.Errors() {
		if errors.Is(err, known) {
			failure.Is = append(failure.Is, name)
		}
	}
	sent, detailsErr := status.New(codes.Unknown, "see the details").WithDetails(failure)
	if detailsErr != nil {
		return status.Error(codes.Internal, text)
	}
	return sent.Err()
}

// Error is one that the program has returned.
type Error struct {
	text string
	is   []error
}

func (e *Error) Error() string { return e.text }

// Unwrap returns the errors of package cluster that it is.
func (e *Error) Unwrap() []error { return e.is }

// decode returns the error that Encode got; false for one that the program has not returned.
func decode(err error) (decoded error, returned bool) {
	for _, detail := range status.Convert(err).Details() {
		failure, ok := detail.(*helperv1.Failure)
		if !ok {
			continue
		}
		known := &Error{text: failure.GetText()}
		for _, name := range failure.GetIs() {
			if is := cluster.Errors()[name]; is != nil {
				known.is = append(known.is, is)
			}
		}
		if failure.GetHint() != "" || failure.GetUsage() {
			return &cluster.HintError{Err: known, Hint: failure.GetHint(), Usage: failure.GetUsage()}, true
		}
		return known, true
	}
	return err, false
}

// endedError is the end of the program during a call.
type endedError struct{ why string }

func (e *endedError) Error() string { return e.why }

// explain returns the error of a call: the cause of ctx when that has ended.
func (h *Helper) explain(ctx context.Context, r *running, err error) error {
	if err == nil {
		return nil
	}
	if status.Code(err) == codes.Unavailable {
		select {
		case <-r.process.Done():
			return &cluster.HintError{
				Err:  &endedError{"the helper program has ended unexpectedly: " + r.process.Summary()},
				Hint: "run it again; if it happens again, see " + h.LogFile,
			}
		case <-time.After(endTime):
		}
	}
	decoded, returned := decode(err)
	if !returned && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return decoded
}

// call asks the program once.
func (h *Helper) call(ctx context.Context, ask func(helperv1.HelperServiceClient) error) error {
	r, err := h.acquire(ctx)
	if err != nil {
		return err
	}
	defer h.release(r)
	return h.explain(ctx, r, ask(r.client))
}
