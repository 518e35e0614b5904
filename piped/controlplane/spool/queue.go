// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/controlplane"
)

// largest is the part of the bytes that one report may take.
const largest = 4

// keep puts a report at the end of the queue. It waits for room until ctx ends, and not at all in a context of
// controlplane.Once.
func (s *Spool) keep(ctx context.Context, name string, request proto.Message) error {
	record, err := encode(name, request)
	if err != nil {
		return status.Errorf(codes.Internal, "keep %s for the control plane: %v", name, err)
	}
	if limit := s.options.MaxBytes / largest; int64(len(record)) > limit && reports[name].kind == lasting {
		return status.Errorf(codes.ResourceExhausted, "keep %s for the control plane: its %d bytes are more than %d",
			name, len(record), limit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost int64
	defer func() { s.dropped.NoRoom += lost }()
	for !s.makeRoom(int64(len(record))) {
		switch reports[name].kind {
		case live:
			lost = 1
			return nil // comes again with the next checkpoint
		case checkpoint:
			lost = 1
			if request, record, err = s.shortenNew(request); err != nil || request == nil {
				return err
			}
			if s.makeRoom(int64(len(record))) {
				return s.append(name, request, record)
			}
		}
		if controlplane.IsOnce(ctx) {
			return status.Errorf(codes.Unavailable, "keep %s while the control plane is away: there is no room for "+
				"more than the %d reports that wait", name, len(s.queue))
		}
		s.options.Logger.Debug("no room to keep a report; its caller waits", "call", name, "reports", len(s.queue),
			"bytes", s.bytes)
		s.full++
		err := s.wait(ctx)
		s.full--
		if err != nil {
			return status.FromContextError(err).Err()
		}
	}
	return s.append(name, request, record)
}

// shortenNew shortens a checkpoint that is not in the queue. It returns nil when the line that it would
// leave is already there.
func (s *Spool) shortenNew(request proto.Message) (proto.Message, []byte, error) {
	short := shorten(request.(*ps.ReportStageLogsFromLastCheckpointRequest))
	if log := logOf(short); !short.GetCompleted() && s.hasLine(log) {
		s.raise(log, short)
		return nil, nil, nil
	}
	record, err := encode("ReportStageLogsFromLastCheckpoint", short)
	if err != nil {
		return nil, nil, status.Errorf(codes.Internal, "shorten the log of a stage: %v", err)
	}
	return short, record, nil
}

// append is called with the lock held and room made.
func (s *Spool) append(name string, request proto.Message, record []byte) error {
	e := newEntry(s.number, int64(len(record)), name, request)
	if err := s.write(e.number, record, e.kind != live); err != nil {
		return status.Errorf(codes.Unavailable, "keep %s while the control plane is away: %v; see that the disk "+
			"of the work directory has room", name, err)
	}
	if len(s.queue) == 0 {
		s.options.Logger.Warn("the control plane does not answer; reports are kept in order until it does", "directory",
			s.options.Dir)
	}
	s.options.Logger.Debug("report is kept for the control plane", "call", name, "waiting", len(s.queue))
	s.number++
	s.bytes += e.size
	s.queue = append(s.queue, e)
	s.wake()
	return nil
}

// makeRoom drops logs until a report of the size fits in. It returns whether it does. It is called with the
// lock held.
func (s *Spool) makeRoom(size int64) bool {
	if size > s.options.MaxBytes/largest {
		return false
	}
	for len(s.queue) >= s.options.MaxReports || s.bytes+size > s.options.MaxBytes {
		if !s.dropOldest(live) && !s.dropOldest(checkpoint) {
			return false
		}
	}
	return true
}

// dropOldest drops the oldest log of a kind. The head of the queue stays: it may be on its way.
func (s *Spool) dropOldest(k kind) bool {
	for i := 1; i < len(s.queue); i++ {
		if s.queue[i].kind != k {
			continue
		}
		s.dropped.NoRoom++
		if k == live {
			s.forget(i)
		} else if err := s.shortenAt(i); err != nil {
			s.options.Logger.Error("a kept log cannot be shortened; it is dropped", "file", s.path(s.queue[i].number),
				"error", err)
			s.forget(i)
		}
		return true
	}
	return false
}

func (s *Spool) shortenAt(i int) error {
	e := &s.queue[i]
	call, request, _, err := s.read(e.number)
	if err != nil {
		return err
	}
	short := shorten(request.(*ps.ReportStageLogsFromLastCheckpointRequest))
	if log := e.log; !short.GetCompleted() && s.hasLine(log) {
		s.forget(i)
		s.raise(log, short)
		return nil
	}
	record, err := encode(call, short)
	if err != nil {
		return err
	}
	if err := s.replace(e.number, record); err != nil {
		return err
	}
	s.bytes += int64(len(record)) - e.size
	e.kind, e.size = shortened, int64(len(record))
	return nil
}

// hasLine reports whether a line in the queue says that a log is not whole.
func (s *Spool) hasLine(log stageLog) bool {
	return slices.ContainsFunc(s.queue, func(e entry) bool { return e.kind == shortened && e.log == log })
}

// raise adds the entries of a shortened checkpoint to the line that says that a log is not whole. It is called with the
// lock held.
func (s *Spool) raise(log stageLog, by proto.Message) {
	i := slices.IndexFunc(s.queue, func(e entry) bool { return e.kind == shortened && e.log == log })
	e := &s.queue[i]
	call, request, _, err := s.read(e.number)
	if err != nil {
		return
	}
	known, _ := countLeftOut(request)
	more, _ := countLeftOut(by)
	request.(*ps.ReportStageLogsFromLastCheckpointRequest).Blocks[0].Log = fmt.Sprintf(leftOut, known+more)
	record, err := encode(call, request)
	if growth := int64(len(record)) - e.size; err == nil && s.bytes+growth <= s.options.MaxBytes &&
		s.replace(e.number, record) == nil {
		s.bytes += growth
		e.size += growth
	}
}

// forget removes a report from the queue and the disk. It is called with the lock held.
func (s *Spool) forget(i int) {
	e := s.queue[i]
	if err := remove(s.path(e.number)); err != nil {
		// It would be delivered again by the next piped, which does no harm.
		s.options.Logger.Warn("a report that is done with cannot be removed", "error", err)
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	s.bytes -= e.size
	s.wake()
}
