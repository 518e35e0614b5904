// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

const (
	// logEnv names the descriptor of a pipe to piped for what is written to stage logs. The pipe keeps it when this
	// process dies before it was reported.
	logEnv = "PIPEDECK_STAGE_LOG_FD"
	// sequenceKey is the gRPC metadata of a report of log blocks: the number of the last entry in it.
	sequenceKey = "pipedeck-log-sequence"
)

// logJournal writes what is passed to stage logs to piped before anything else is done with it. A nil one, under a
// piped that offers no pipe, writes nothing.
type logJournal struct {
	mu     sync.Mutex
	pipe   *os.File
	buffer []byte
	// broken is set when piped is gone.
	broken bool
}

// openJournal returns nil when piped offers no pipe. The variable is removed and the pipe is closed in programs that
// the plugin starts.
func openJournal() (*logJournal, error) {
	value := os.Getenv(logEnv)
	if value == "" {
		return nil, nil
	}
	if err := os.Unsetenv(logEnv); err != nil {
		return nil, err
	}
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s is %q, want the number of an open pipe", logEnv, value)
	}
	syscall.CloseOnExec(fd)
	return &logJournal{pipe: os.NewFile(uintptr(fd), "stage logs")}, nil
}

// write returns when the system has the record.
func (j *logJournal) write(record *agentv1.StageLogRecord) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken {
		return
	}
	j.buffer = protowire.AppendVarint(j.buffer[:0], uint64(proto.Size(record)))
	var err error
	if j.buffer, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(j.buffer, record); err == nil {
		_, err = j.pipe.Write(j.buffer)
	}
	j.broken = err != nil
}

func (j *logJournal) close() {
	if j != nil {
		_ = j.pipe.Close()
	}
}
