// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"path"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// keeper answers a call that changes something only once the change is kept.
type keeper struct {
	journal *journal.Journal // nil when nothing is kept
}

// unkept are the methods that change nothing that is kept, besides those that read. They work while nothing can be
// kept.
var unkept = map[string]bool{
	// What pipeds report again after a restart, and proofs of life.
	"ReportStat": true, "ReportPipedMeta": true, "ReportPlugins": true, "ReportHealth": true, "ReportLooks": true,
	"ReportApplicationLiveState": true, "ReportApplicationLiveStateEvents": true,
	// Actions of the moment.
	"OpenApplication": true, "LookAtApplication": true, "RestartPlugin": true, "Shutdown": true, "Encrypt": true,
	"ChangeBreakpoints": true, "ShowCaption": true,
	"Resolve": true, "Provide": true, "Check": true,
}

// reading begins the names of methods that read.
var reading = []string{"Get", "List", "InChain", "Watch"}

func (k *keeper) unary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	if k.journal == nil {
		return handler(ctx, req)
	}
	method := path.Base(info.FullMethod)
	if reads(method) && strings.Contains(info.FullMethod, "PipedService") && !k.journal.Loaded() {
		return nil, unavailable(k.journal.Ready()) // an empty answer would be wrong
	}
	if reads(method) || unkept[method] {
		return handler(ctx, req)
	}
	if err := k.journal.Ready(); err != nil {
		return nil, unavailable(err)
	}
	answer, err := handler(ctx, req)
	// A refusal may rest on an earlier try of the same call, and the caller takes it for an answer to that.
	if lost := k.journal.Wait(ctx); lost != nil {
		return nil, unavailable(lost)
	}
	return answer, err
}

func reads(method string) bool {
	for _, prefix := range reading {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}

func unavailable(err error) error {
	var problem *journal.Problem
	switch {
	case errors.As(err, &problem):
		return status.Error(codes.Unavailable, problem.Error())
	case err == nil:
		return status.Error(codes.Unavailable, "the history is being read; try again")
	}
	return status.FromContextError(err).Err()
}
