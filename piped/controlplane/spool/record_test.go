// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
)

func TestEveryKeptCallIsReadAgainAsItWas(t *testing.T) {
	t.Parallel()
	for name := range reports {
		request, err := newRequest(name)
		require.NoError(t, err)
		record, err := encode(name, request)
		require.NoError(t, err)
		got, read, err := decode(record)
		require.NoError(t, err)
		require.Equal(t, name, got)
		require.True(t, proto.Equal(request, read))
	}
}

func TestCallsOfTheSpoolAreCallsOfTheService(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/"+ps.PipedService_ServiceDesc.ServiceName+"/", service)
	known := map[string]bool{}
	for _, method := range ps.PipedService_ServiceDesc.Methods {
		known[method.MethodName] = true
	}
	for name := range reports {
		require.True(t, known[name], name)
		require.False(t, contradicted[name], name)
	}
	for name := range contradicted {
		require.True(t, known[name], name)
	}
}

func TestNoPieceOfARecordIsAReport(t *testing.T) {
	t.Parallel()
	record, err := encode("ReportStageStatusChanged", stageRequest("a"))
	require.NoError(t, err)
	for length := range record {
		_, _, err := decode(record[:length])
		require.ErrorIs(t, err, errTorn, "%d bytes", length)
	}
}

func FuzzDecode(f *testing.F) {
	for _, id := range []string{"", "a"} {
		record, err := encode("ReportStageStatusChanged", stageRequest(id))
		require.NoError(f, err)
		f.Add(record)
		f.Add(record[headerBytes-1:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// Once as it is, and once with a checksum that holds, or no noise would come past it.
		for _, record := range [][]byte{data, seal(append([]byte(magic+"\x00\x00\x00\x00"), data...))} {
			name, request, err := decode(record)
			if err != nil {
				continue
			}
			again, err := encode(name, request)
			require.NoError(t, err)
			_, read, err := decode(again)
			require.NoError(t, err)
			require.True(t, proto.Equal(request, read))
		}
	})
}
