// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// class says whether a call that has failed would fail again.
type class int

const (
	// passing: the call, or its answer, did not get through. The next try succeeds once the cause is gone, however long
	// that takes.
	passing class = iota + 1
	// failing: the control plane failed at the call. The next try may succeed, or none ever: tries have a bound.
	failing
	// refused: the next try fails for the same reason.
	refused
)

// classes is the class of each code of an error, with the reason.
var classes = map[codes.Code]struct {
	class  class
	reason string
}{
	codes.Unavailable:      {passing, "there is no connection, or the control plane is starting or stopping"},
	codes.DeadlineExceeded: {passing, "no answer came in time"},
	codes.Canceled: {passing,
		"the connection or a proxy gave the call up; the caller's own end shows in its context"},
	codes.Aborted: {failing, "another call was in the way"},
	codes.ResourceExhausted: {failing,
		"a quota, which recovers, or a message that is too large, which does not shrink"},
	codes.Unknown:            {failing, "an error that the control plane did not classify"},
	codes.Internal:           {failing, "the control plane failed, perhaps at this request only"},
	codes.DataLoss:           {failing, "the storage of the control plane failed"},
	codes.InvalidArgument:    {refused, "the request is wrong"},
	codes.OutOfRange:         {refused, "the request is wrong"},
	codes.NotFound:           {refused, "the request names something that does not exist"},
	codes.AlreadyExists:      {refused, "an earlier try got through, or the name is taken"},
	codes.FailedPrecondition: {refused, "the state of the object does not allow it"},
	codes.PermissionDenied:   {refused, "this piped may not do it"},
	codes.Unauthenticated:    {refused, "the key is not accepted; only a user can change that"},
	codes.Unimplemented:      {refused, "the control plane does not have this call"},
}

// classOf returns the class of an error of a call; 0 for nil.
func classOf(err error) class { return classes[status.Code(err)].class }

// Passing reports whether a call, or its answer, did not get through to the control plane: it succeeds later.
func Passing(err error) bool { return classOf(err) == passing }

// Refused reports whether another try of a call would fail for the same reason.
func Refused(err error) bool { return classOf(err) == refused }
