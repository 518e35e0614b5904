// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"strings"

	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// answer is what the environment answered, without gRPC's words around it. It unwraps to the error of the call, so that
// callers see its code.
type answer struct {
	text string
	call error
}

func (a *answer) Error() string { return a.text }

func (a *answer) Unwrap() error { return a.call }

// Refusal returns what the environment answered without gRPC's words around it; an *exit.Error stays as it is.
func Refusal(err error) error {
	s, ok := answered(err)
	if !ok {
		return err
	}
	return exit.With(exit.Failed, &answer{s.Message(), err}, "see pipedeck status")
}

// Unreachable returns the environment's answer: what is wrong, then after a semicolon the next step. An *exit.Error
// stays as it is.
func Unreachable(err error) error {
	s, ok := answered(err)
	if !ok {
		return err
	}
	message, hint := s.Message(), "see pipedeck status"
	if at := strings.LastIndex(message, "; "); at >= 0 {
		message, hint = message[:at], message[at+2:]
	}
	return exit.With(exit.Failed, &answer{message, err}, hint)
}

// answered is the answer of a call; an error that has its words already is none.
func answered(err error) (s *status.Status, ok bool) {
	if said := (*exit.Error)(nil); errors.As(err, &said) {
		return nil, false
	}
	return status.FromError(err)
}
