// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

const (
	// logEnv names the descriptor of a file in memory that this process shares with piped. What is in it outlasts this
	// process, so piped can report what a dead plugin could not.
	logEnv = "PIPEDECK_STAGE_LOG_MEMORY_FD"
	// sequenceKey is the gRPC metadata of a report of log blocks: the number of the last entry in it.
	sequenceKey = "pipedeck-log-sequence"

	// journalHeader is the size of the header of the file. Two halves of equal size follow it, and one of them is in
	// use. The first 8 bytes of the header say which: its number in the highest bit, its length in bytes in the others.
	journalHeader = 4096
	secondHalf    = 1 << 63
	// minTidy is the length in bytes from which a half is tidied when a report was made.
	minTidy = 2 << 20
	// recordPrefix is the size of what precedes each record: its length in bytes and the number of its stage, 4 bytes
	// each; the numbers of the entry and of the writer, 8 bytes each.
	recordPrefix = 24
	// leftOutSequence marks the record of a stage that says which of its entries found no room. leftOutRoom is the part
	// of a half that only such records may use, in bytes.
	leftOutSequence = -1
	leftOutRoom     = 64 << 10
	// leftOutSize is the size of the number at the end of such a record, which is changed in place.
	leftOutSize = 8
)

// logJournal keeps what is passed to stage logs and has not been reported in memory that piped can read when this
// process has died. Writing to it needs no call of the system. A nil one, under a piped that offers no memory, keeps
// nothing.
type logJournal struct {
	mu     sync.Mutex
	mapped []byte
	halves [2][]byte
	// state is the first word of the file: the half in use and its length. piped never sees a part of a record, because
	// the word changes after the record is complete.
	state *uint64
	half  int
	tail  int
	// tidyAt is the length from which a half is tidied; it grows with what has to be kept.
	tidyAt int
	// full is set while more than half of the memory has to be kept: then only a report makes tidying worth its time.
	full   bool
	stages map[uint32]*journalStage
	last   uint32
}

// journalStage is what the journal knows of the log of one attempt at a stage. Its journal's lock guards it.
type journalStage struct {
	number uint32
	// through is the number of the last entry that was reported.
	through int64
	// abandoned is set when the rest can only be reported after the end of this process, dropped when it gave way to
	// other logs before that.
	abandoned, dropped bool
	// leftOut is the number of the last entry that found no room, place where piped finds it in the half in use; 0 when
	// there was no room for that either.
	leftOut int64
	place   int
}

// openJournal returns nil when piped offers no memory. The variable is removed and the file is closed in programs that
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
		return nil, fmt.Errorf("%s is %q, want the number of an open file", logEnv, value)
	}
	syscall.CloseOnExec(fd)
	file := os.NewFile(uintptr(fd), "stage logs")
	defer file.Close() // the mapping stays
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	half := int(info.Size()-journalHeader) / 2
	if half < minTidy || half > 1<<30 {
		return nil, fmt.Errorf("%s names a file of %d bytes, which is not the memory for stage logs", logEnv,
			info.Size())
	}
	mapped, err := syscall.Mmap(fd, 0, journalHeader+2*half, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the memory for stage logs: %w", err)
	}
	return newLogJournal(mapped, half), nil
}

func newLogJournal(mapped []byte, half int) *logJournal {
	return &logJournal{
		mapped: mapped, halves: [2][]byte{mapped[journalHeader:][:half], mapped[journalHeader+half:][:half]},
		state: (*uint64)(unsafe.Pointer(&mapped[0])), tidyAt: minTidy, stages: map[uint32]*journalStage{},
	}
}

// stage starts to keep the log of an attempt at a stage, which the record names.
func (j *logJournal) stage(record *agentv1.StageLogRecord) *journalStage {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	stage := &journalStage{number: j.last}
	j.stages[j.last] = stage
	record.Sequence = leftOutSequence
	data, err := proto.Marshal(record)
	if err != nil {
		return stage
	}
	data = protowire.AppendTag(data, leftOutField, protowire.Fixed64Type)
	data = protowire.AppendFixed64(data, 0)
	if j.mapped == nil || !j.room(recordPrefix+len(data)) {
		return stage
	}
	place := j.halves[j.half][j.tail:][:recordPrefix+len(data)]
	copy(place[recordPrefix:], data)
	putPrefix(place, stage, record)
	stage.place = j.tail + len(place) - leftOutSize
	j.publish(j.half, j.tail+len(place))
	return stage
}

// leftOutField is the number of the field of a record that is changed in place.
var leftOutField = (&agentv1.StageLogRecord{}).ProtoReflect().Descriptor().Fields().ByName("left_out_through").Number()

// leaveOut has piped know that an entry of a stage found no room in a half.
func (s *journalStage) leaveOut(half []byte, sequence int64) {
	s.leftOut = max(s.leftOut, sequence)
	if s.place > 0 {
		binary.LittleEndian.PutUint64(half[s.place:], uint64(s.leftOut)) // one step for a reader
	}
}

// write keeps a record of a stage. A record without a sequence is the start of a line; a later record with the same
// writer replaces it.
//
// When as much waits to be reported as fits into the memory, the record is left out: it is then lost if the process
// dies before it is reported. piped learns how many entries are missing, and writes that to the stage log. The start of
// a line that is left out is not counted.
func (j *logJournal) write(stage *journalStage, record *agentv1.StageLogRecord) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	size := proto.Size(record)
	if j.mapped == nil {
		return
	}
	if !j.room(recordPrefix + size + leftOutRoom) {
		stage.leaveOut(j.halves[j.half], record.GetSequence())
		return
	}
	place := j.halves[j.half][j.tail : j.tail+recordPrefix+size]
	written, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(place[recordPrefix:recordPrefix], record)
	if err != nil || len(written) != size {
		return
	}
	putPrefix(place, stage, record)
	j.publish(j.half, j.tail+len(place))
}

func putPrefix(place []byte, stage *journalStage, record *agentv1.StageLogRecord) {
	binary.NativeEndian.PutUint32(place, uint32(len(place)-recordPrefix))
	binary.NativeEndian.PutUint32(place[4:], stage.number)
	binary.NativeEndian.PutUint64(place[8:], uint64(record.GetSequence()))
	binary.NativeEndian.PutUint64(place[16:], uint64(record.GetWriter()))
}

// reported says that the entries of a stage up to a number need not be kept any more.
func (j *logJournal) reported(stage *journalStage, through int64) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	stage.through = max(stage.through, through)
	if j.mapped != nil && (j.full || j.tail >= j.tidyAt) {
		j.tidy()
	}
}

// done says that the whole log of a stage was reported. The record says so to piped.
func (j *logJournal) done(stage *journalStage, record *agentv1.StageLogRecord) {
	if j == nil {
		return
	}
	j.write(stage, record)
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.stages, stage.number)
	if j.mapped != nil && len(j.stages) == 0 {
		j.publish(j.half, 0)
		j.tidyAt, j.full = minTidy, false
	}
}

// abandon says that nothing more of a stage will be reported by this process. What is left is kept while there is room.
func (j *logJournal) abandon(stage *journalStage) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	stage.abandoned = true
}

// room reports whether n bytes fit, after tidying if need be.
func (j *logJournal) room(n int) bool {
	size := len(j.halves[0])
	if j.tail+n > size && !j.full {
		j.tidy()
	}
	return j.tail+n <= size
}

// tidy copies what has to be kept to the other half, and then puts that in use. A process that dies meanwhile leaves
// the first half in use.
func (j *logJournal) tidy() {
	if j.full {
		for _, stage := range j.stages {
			stage.dropped = stage.abandoned
		}
	}
	from, to := j.halves[j.half][:j.tail], j.halves[1-j.half]
	starts := lineStarts(from)
	kept := 0
	for at := 0; at < len(from); {
		r := recordAt(from, at)
		switch stage := j.stages[r.stage]; {
		case stage == nil:
		case r.sequence == leftOutSequence:
			kept += copy(to[kept:], from[at:r.end])
			stage.place = kept - leftOutSize
		case stage.dropped && r.sequence > stage.through:
			stage.leaveOut(to, r.sequence)
		case !stage.dropped && (r.sequence > stage.through || r.sequence == 0 && starts[r.line()] == at):
			kept += copy(to[kept:], from[at:r.end])
		}
		at = r.end
	}
	j.publish(1-j.half, kept)
	j.tidyAt, j.full = max(minTidy, 2*kept), 2*kept > len(to)
}

// line identifies what a LineWriter of a stage writes.
type line struct {
	stage  uint32
	writer int64
}

// lineStarts are the places of the starts of lines that have not ended.
func lineStarts(records []byte) map[line]int {
	starts := map[line]int{}
	for at := 0; at < len(records); {
		r := recordAt(records, at)
		if r.sequence == 0 {
			starts[r.line()] = at
		} else {
			delete(starts, r.line())
		}
		at = r.end
	}
	return starts
}

type journalRecord struct {
	stage            uint32
	sequence, writer int64
	end              int
}

func (r journalRecord) line() line { return line{r.stage, r.writer} }

func recordAt(records []byte, at int) journalRecord {
	prefix := records[at:]
	return journalRecord{
		stage:    binary.NativeEndian.Uint32(prefix[4:]),
		sequence: int64(binary.NativeEndian.Uint64(prefix[8:])),
		writer:   int64(binary.NativeEndian.Uint64(prefix[16:])),
		end:      at + recordPrefix + int(binary.NativeEndian.Uint32(prefix)),
	}
}

// publish puts a half with a length in use, in one step for a reader.
func (j *logJournal) publish(half, tail int) {
	j.half, j.tail = half, tail
	word := uint64(tail)
	if half == 1 {
		word |= secondHalf
	}
	atomic.StoreUint64(j.state, word)
}

func (j *logJournal) close() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = syscall.Munmap(j.mapped)
	j.mapped = nil
}
