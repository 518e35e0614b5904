// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"log/slog"
	"net"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/system/logtest"
	"github.com/pipedeck/pipedeck/system/peeruser/otheruser"
)

// logged is what a server has logged.
type logged struct{ logtest.Buffer }

func (l *logged) into(c *controlplane.Config) { c.Logger = slog.New(slog.NewTextHandler(l, nil)) }

func TestManyConnectionsWithoutAKeyKeepNoOneOut(t *testing.T) {
	t.Parallel()
	p := start(t)
	_, err := p.piped.ListApplications(testContext(t), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	for range 300 {
		dialKeyless(t, p.address)
	}
	// The user connects now, the piped is connected.
	_, err = p.api.ListApplications(testContext(t), &apiservice.ListApplicationsRequest{})
	require.NoError(t, err)
	_, err = p.piped.ListApplications(testContext(t), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
}

func TestAConnectionWithoutAKeyEndsAlthoughItAnswersPings(t *testing.T) {
	t.Parallel()
	p := start(t)
	k := dialKeyless(t, p.address)
	_, err := p.piped.ListApplications(testContext(t), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	select {
	case <-k.done:
	case <-time.After(time.Minute):
		t.Fatal("the connection is still open")
	}
	state := p.pipedConn.GetState()
	_, err = p.piped.ListApplications(testContext(t), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Equal(t, state, p.pipedConn.GetState(), "the piped has a key and keeps its connection")
}

// refusal is the error of a call with the key of the connection.
func refusal(t *testing.T, conn *grpc.ClientConn) error {
	_, err := pipedservice.NewPipedServiceClient(conn).ListApplications(testContext(t),
		&pipedservice.ListApplicationsRequest{})
	return err
}

func TestManyRefusedCallsAreFewLinesOfLog(t *testing.T) {
	t.Parallel()
	var log logged
	p := start(t, log.into)
	const connections, calls = 20, 50
	var done sync.WaitGroup
	var lost atomic.Int64
	began := time.Now()
	for range connections {
		conn := dial(t, p.address, "PIPED-TOKEN proj,"+pipedID+","+strings.Repeat("x", 1000))
		done.Go(func() {
			for range calls {
				err := refusal(t, conn)
				// The time of a connection without a key is over on a slow machine; the call has ended with it.
				for ; status.Code(err) == codes.Unavailable; err = refusal(t, conn) {
					lost.Add(1)
				}
				requireCode(t, codes.Unauthenticated, err)
			}
		})
	}
	done.Wait()
	p.stop()
	shown := strings.Count(log.String(), "refused a call")
	lines, counted := shown, 0
	for _, more := range regexp.MustCompile(`(\d+) more calls were refused in the last 10s`).FindAllStringSubmatch(
		log.String(), -1) {
		n, err := strconv.Atoi(more[1])
		require.NoError(t, err)
		lines, counted = lines+1, counted+n
	}
	require.GreaterOrEqual(t, shown+counted, connections*calls, "every call is counted")
	require.LessOrEqual(t, shown+counted, connections*calls+int(lost.Load()), "and no call twice")
	intervals := 2 + int(time.Since(began)/(10*time.Second))
	require.LessOrEqual(t, lines, 6*intervals, "five calls of each interval and the number of the others")
}

func TestCallsThatAreResetAtOnceEndTheConnection(t *testing.T) {
	t.Parallel()
	var log logged
	p := start(t, log.into)
	for range 10 {
		k := dialKeyless(t, p.address)
		require.True(t, k.reset(pipedservice.PipedService_ListApplications_FullMethodName, 100_000),
			"the connection is still open")
	}
	p.stop()
	require.Less(t, strings.Count(log.String(), "\n"), 50)
}

// It measures the memory of the whole process, so nothing runs at the same time.
func TestUnfinishedMessagesWithoutAKeyCostNoMemory(t *testing.T) {
	for _, method := range []string{
		pipedservice.PipedService_ReportStageLogs_FullMethodName, // needs a key
		"/grpc.health.v1.Health/Check",                           // needs none
	} {
		p := start(t)
		const connections, message = 40, 10 << 20
		before := heap()
		var clients []*keyless
		for range connections {
			clients = append(clients, dialKeyless(t, p.address))
		}
		var done sync.WaitGroup
		for _, k := range clients {
			done.Go(func() {
				k.call(method)
				k.sendUnfinished(message)
			})
		}
		done.Wait()
		grown := heap() - before
		t.Logf("%s: the heap grew by %d KiB", method, grown>>10)
		require.Less(t, grown, int64(20<<20), method)
		p.stop()
	}
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestLargeHeadersAreRefused(t *testing.T) {
	t.Parallel()
	p := start(t)
	for size, want := range map[int]bool{8 << 10: true, 20 << 10: false} {
		ctx := metadata.AppendToOutgoingContext(testContext(t), "large", strings.Repeat("x", size))
		_, err := p.piped.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
		require.Equal(t, want, err == nil, "%d bytes: %v", size, err)
	}
}

func TestAnotherUserOfThisMachineIsRefused(t *testing.T) {
	t.Parallel()
	var log logged
	p := start(t, log.into)
	own, err := net.Dial("tcp", p.address)
	require.NoError(t, err)
	defer own.Close()
	require.NoError(t, own.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = own.Read(make([]byte, 1))
	require.NoError(t, err, "the server begins to speak to its own user")
	if runtime.GOOS != "linux" {
		t.Skip("this system does not report the user of a connection")
	}
	require.Empty(t, otheruser.Dial(t, p.address)())
	require.Contains(t, log.String(), "a process of user 65534 may not connect")
}
