// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"strings"

	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// Refusal returns what the environment answered without gRPC's words around it.
func Refusal(err error) error {
	if s, ok := status.FromError(err); ok {
		return exit.With(exit.Failed, errors.New(s.Message()), "see pipedeck status")
	}
	return err
}

// Unreachable returns the environment's answer: what is wrong, then after a semicolon the next step.
func Unreachable(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	message, hint := s.Message(), "see pipedeck status"
	if at := strings.LastIndex(message, "; "); at >= 0 {
		message, hint = message[:at], message[at+2:]
	}
	return exit.With(exit.Failed, errors.New(message), hint)
}
