// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plainerror

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

func TestTextsOfErrorsAreWithoutTheWordsOfGRPC(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nil":     {nil, ""},
		"other":   {errors.New("no space left"), "no space left"},
		"status":  {status.Error(codes.NotFound, "no such piped"), "no such piped"},
		"wrapped": {fmt.Errorf("list: %w", status.Error(codes.Internal, "broken")), "list: broken"},
		"joined": {errors.Join(status.Error(codes.Internal, "a"), status.Error(codes.Aborted, "b")),
			"a\nb"},
		"no message": {fmt.Errorf("list: %w", status.Error(codes.Unavailable, "")), "list: Unavailable"},
		"dialing": {status.Error(codes.Unavailable,
			`connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: `+
				`connection refused"`),
			"dial tcp 127.0.0.1:1: connect: connection refused"},
		"handshake": {status.Error(codes.Unavailable, `connection error: desc = "transport: authentication handshake `+
			`failed: tls: first record does not look like a TLS handshake"`),
			"authentication handshake failed: tls: first record does not look like a TLS handshake"},
		"preface": {status.Error(codes.Unavailable, `connection error: desc = "error reading server preface: EOF"`),
			"error reading server preface: EOF"},
		"last attempt": {
			status.Error(codes.DeadlineExceeded, `context deadline exceeded while waiting for connections `+
				`to become ready; last error: connection error: desc = "transport: Error while dialing: no \"route\""`),
			`context deadline exceeded while waiting for connections to become ready; no "route"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Text(c.err))
		})
	}
}

// The other cases are what gRPC says today; this one is what this version of gRPC says.
func TestARefusedConnectionReadsPlain(t *testing.T) {
	t.Parallel()
	conn, err := grpc.NewClient("127.0.0.1:1", grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	_, err = grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.Error(t, err)
	require.Regexp(t, `^dial tcp 127\.0\.0\.1:1: `, Text(err))
}

func TestLoggersWriteErrorsPlain(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: Attr}))
	refused := status.Error(codes.Internal, "broken")
	logger.With("group", refused.Error()).Warn("failed", "error", fmt.Errorf("list: %w", refused), "try", 2)
	require.Contains(t, out.String(), `group=broken error="list: broken" try=2`)
}
