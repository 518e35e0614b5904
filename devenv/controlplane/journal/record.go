// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind says what a record holds. Numbers are never used twice.
type Kind byte

// The kinds of records.
const (
	// Application: Model is a model.Application, Automatic belongs to it, and Key is the JSON of the plugins that it
	// uses.
	Application Kind = 1
	// Deployment: Model is a model.Deployment, with Created, Completed, Stages and the Commit of an event that led to
	// it.
	Deployment Kind = 2
	// Log: blocks that were added to the log of stage Name of deployment ID.
	Log Kind = 3
	// Command: Model is a model.Command.
	Command Kind = 4
	// Event: Model is a model.Event, Commit the one that caused it.
	Event Kind = 5
	// Chain: Model is the JSON of a deployment chain.
	Chain Kind = 6
	// Cluster: the cluster ID was, when it was seen last, the one whose own identity is Name.
	Cluster Kind = 7
	// Object: Model are the bytes that plugin Name stored for application ID under Key.
	Object Kind = 8
	// Piped: Model is a model.Piped, Key the SHA-256 of its key.
	Piped Kind = 9
	// Analysis: Model is the model.AnalysisResult of application ID.
	Analysis Kind = 10
	// loss: the damaged file ID was kept when the file was opened at Created; Name says what is missing.
	loss Kind = 11
)

var kindNames = map[Kind]string{
	Application: "application", Deployment: "deployment", Log: "part of the log of stage", Command: "command",
	Event: "event",
	Chain: "deployment chain", Cluster: "identity of", Object: "shared object of application",
	loss:  "note of an earlier loss",
	Piped: "piped", Analysis: "analysis result of application",
}

// String names the object that the record holds.
func (r Record) String() string {
	kind, ok := kindNames[r.Kind]
	if !ok {
		return "object of an unknown kind"
	}
	if r.Kind == Log {
		return kind + " " + r.Name + " of deployment " + r.ID
	}
	return kind + " " + r.ID
}

// Record is one object, whole, or an addition to a log. Fields that the kind does not name are zero.
type Record struct {
	Kind  Kind
	Model []byte
	// ID is the id of the object unless the kind says otherwise. Name and Key are what the kind says.
	ID, Name, Key      string
	Created, Completed time.Time
	Stages             []Stage
	Automatic          bool
	// Attempt, Blocks (model.LogBlock each), Received and Sealed are of logs.
	Attempt  int32
	Blocks   [][]byte
	Received time.Time
	Sealed   bool
	// Commit is a model.Commit, empty for none.
	Commit []byte
}

// Stage has the times of a stage's latest attempt; zero when not reached.
type Stage struct {
	ID                 string
	Started, Completed time.Time
	// Run is what the store knows of its attempts and approvals, encoded.
	Run []byte
}

// The numbers of the fields; never used twice.
const (
	fieldModel = iota + 1
	fieldID
	fieldName
	fieldKey
	fieldCreated
	fieldCompleted
	fieldStage
	fieldAutomatic
	fieldAttempt
	fieldBlock
	fieldReceived
	fieldSealed
	fieldCommit
)

var errMalformed = errors.New("the record is malformed")

// encode appends the record in the wire form of protobuf, after one byte with its kind.
func (r *Record) encode(b []byte) []byte {
	b = append(b, byte(r.Kind))
	b = appendBytes(b, fieldModel, r.Model)
	b = appendBytes(b, fieldID, []byte(r.ID))
	b = appendBytes(b, fieldName, []byte(r.Name))
	b = appendBytes(b, fieldKey, []byte(r.Key))
	b = appendTime(b, fieldCreated, r.Created)
	b = appendTime(b, fieldCompleted, r.Completed)
	for _, s := range r.Stages {
		inner := appendBytes(nil, fieldID, []byte(s.ID))
		inner = appendTime(inner, fieldCreated, s.Started)
		inner = appendTime(inner, fieldCompleted, s.Completed)
		inner = appendBytes(inner, fieldModel, s.Run)
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldStage, protowire.BytesType), inner)
	}
	b = appendNumber(b, fieldAutomatic, protowire.EncodeBool(r.Automatic))
	b = appendNumber(b, fieldAttempt, uint64(uint32(r.Attempt)))
	for _, block := range r.Blocks {
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldBlock, protowire.BytesType), block)
	}
	b = appendTime(b, fieldReceived, r.Received)
	b = appendNumber(b, fieldSealed, protowire.EncodeBool(r.Sealed))
	return appendBytes(b, fieldCommit, r.Commit)
}

func appendBytes(b []byte, field protowire.Number, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func appendNumber(b []byte, field protowire.Number, value uint64) []byte {
	if value == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), value)
}

func appendTime(b []byte, field protowire.Number, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return appendNumber(b, field, uint64(t.UnixNano()))
}

// decode reads a record. What it returns refers to data.
func decode(data []byte) (Record, error) {
	if len(data) == 0 {
		return Record{}, errMalformed
	}
	r := Record{Kind: Kind(data[0])}
	err := fields(data[1:], func(field protowire.Number, value []byte, number uint64) error {
		switch field {
		case fieldModel:
			r.Model = value
		case fieldID:
			r.ID = string(value)
		case fieldName:
			r.Name = string(value)
		case fieldKey:
			r.Key = string(value)
		case fieldCreated:
			r.Created = moment(number)
		case fieldCompleted:
			r.Completed = moment(number)
		case fieldStage:
			s, err := decodeStage(value)
			r.Stages = append(r.Stages, s)
			return err
		case fieldAutomatic:
			r.Automatic = number != 0
		case fieldAttempt:
			r.Attempt = int32(uint32(number))
		case fieldBlock:
			r.Blocks = append(r.Blocks, value)
		case fieldReceived:
			r.Received = moment(number)
		case fieldSealed:
			r.Sealed = number != 0
		case fieldCommit:
			r.Commit = value
		}
		return nil
	})
	return r, err
}

func decodeStage(data []byte) (s Stage, err error) {
	err = fields(data, func(field protowire.Number, value []byte, number uint64) error {
		switch field {
		case fieldID:
			s.ID = string(value)
		case fieldCreated:
			s.Started = moment(number)
		case fieldCompleted:
			s.Completed = moment(number)
		case fieldModel:
			s.Run = value
		}
		return nil
	})
	return s, err
}

// fields calls found for each field. It skips those of other types than ours.
func fields(data []byte, found func(field protowire.Number, value []byte, number uint64) error) error {
	for len(data) > 0 {
		field, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return errMalformed
		}
		data = data[n:]
		var value []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(data)
		default:
			field, n = 0, protowire.ConsumeFieldValue(field, kind, data)
		}
		if n < 0 {
			return errMalformed
		}
		data = data[n:]
		if err := found(field, value, number); err != nil {
			return err
		}
	}
	return nil
}

func moment(nanoseconds uint64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(nanoseconds))
}
