// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/klog/v2"
)

func (s *Server) serveLogs(w http.ResponseWriter, r *http.Request) {
	pod := s.pod(w, r)
	if pod == nil {
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	if s.simulated(pod) {
		_, _ = io.WriteString(w, simulatedLog)
		return
	}
	options, err := readLogOptions(r.URL.Query(), time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	container := r.PathValue("container")
	output, err := s.config.Containers.Output(pod.UID, container, options.previous)
	if err != nil {
		http.Error(w, noLog(pod.Name, container, options.previous, err), http.StatusBadRequest)
		return
	}
	if !options.follow || output.Ended == nil {
		output.Ended = closed()
	}
	out := &logWriter{to: w, options: options, flush: flusher(w)}
	if err := readLog(r.Context(), output, out); err != nil && r.Context().Err() == nil {
		klog.FromContext(r.Context()).Error(err, "Cannot send a log", "pod", klog.KObj(pod), "container", container)
		if !out.begun {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

// noLog says why there is no log, in the words that kubectl's users know where there are some.
func noLog(pod, container string, previous bool, err error) string {
	if previous {
		return fmt.Sprintf("previous terminated container %q in pod %q not found: %v", container, pod, err)
	}
	return fmt.Sprintf("container %q in pod %q is waiting to start: %v", container, pod, err)
}

// flusher returns what sends the client the lines that were written so far.
func flusher(w http.ResponseWriter) func() {
	control := http.NewResponseController(w)
	return func() { _ = control.Flush() } // a client that has gone ends the request's context
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// errEnough ends the reading of a log whose wanted bytes were written.
var errEnough = errors.New("the limit of bytes is reached")

// readLog writes a log, and what is added to it until its container has ended.
func readLog(ctx context.Context, output Output, out *logWriter) error {
	log, err := openLog(output.Files)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.seekTail(out.options.tail); err != nil {
		return err
	}
	changes := watchLog(log.path)
	defer changes.close()
	for {
		ended := isClosed(output.Ended) // before reading: what was written until then is read now
		err := log.copyTo(out)
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil || ended {
			return err
		}
		out.flush()
		if changes.wait(ctx, output.Ended); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
