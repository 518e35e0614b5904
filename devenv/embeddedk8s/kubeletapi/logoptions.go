// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// logOptions say which part of a log is wanted.
type logOptions struct {
	follow, previous, timestamps bool
	// tail is the number of lines at the end; -1 for all.
	tail int64
	// limit is the number of bytes; -1 for all.
	limit int64
	// since is the time of the first line; zero for all.
	since time.Time
	// stream is stdout or stderr; empty for both.
	stream string
}

// readLogOptions reads the query that the API server makes of a user's PodLogOptions, which it has validated.
func readLogOptions(query url.Values, now time.Time) (logOptions, error) {
	o := logOptions{tail: -1, limit: -1}
	var err error
	for name, value := range map[string]*bool{
		"follow": &o.follow, "previous": &o.previous, "timestamps": &o.timestamps,
	} {
		if text := query.Get(name); text != "" {
			if *value, err = strconv.ParseBool(text); err != nil {
				return o, fmt.Errorf("%s %q: want true or false", name, text)
			}
		}
	}
	since := int64(-1)
	for name, value := range map[string]*int64{"tailLines": &o.tail, "limitBytes": &o.limit, "sinceSeconds": &since} {
		if text := query.Get(name); text != "" {
			if *value, err = strconv.ParseInt(text, 10, 64); err != nil || *value < 0 {
				return o, fmt.Errorf("%s %q: want a number", name, text)
			}
		}
	}
	if since >= 0 {
		o.since = now.Add(-time.Duration(since) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		if o.since, err = time.Parse(time.RFC3339, text); err != nil {
			return o, fmt.Errorf("sinceTime %q: want a time by RFC 3339", text)
		}
	}
	switch stream := query.Get("stream"); stream {
	case "", corev1.LogStreamAll:
	case corev1.LogStreamStdout:
		o.stream = "stdout"
	case corev1.LogStreamStderr:
		o.stream = "stderr"
	default:
		return o, fmt.Errorf("stream %q: want All, Stdout or Stderr", stream)
	}
	return o, nil
}
