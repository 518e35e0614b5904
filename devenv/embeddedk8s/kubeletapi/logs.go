// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"errors"
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
	path, err := s.config.Containers.LogFile(pod.Namespace, pod.Name, container, options.previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// A container that does not run any more writes nothing any more.
	var done <-chan struct{} = closed()
	if options.follow && !options.previous {
		if running, err := s.config.Containers.Running(pod.Namespace, pod.Name, container); err == nil {
			done = running.Done
		}
	}
	out := &logWriter{to: w, options: options, flush: flusher(w)}
	if err := readLog(r.Context(), path, done, out); err != nil && r.Context().Err() == nil {
		klog.FromContext(r.Context()).Error(err, "Cannot send a log", "pod", klog.KObj(pod), "container", container)
		if !out.begun {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
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

// readLog writes a log, and what is added to it until done is closed. Nothing is added after that.
func readLog(ctx context.Context, path string, done <-chan struct{}, out *logWriter) error {
	log, err := openLog(path)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.seekTail(out.options.tail); err != nil {
		return err
	}
	changes := watchLog(path)
	defer changes.close()
	for {
		ended := isClosed(done) // before reading: what was written until then is read now
		err := log.copyTo(out)
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil || ended {
			return err
		}
		out.flush()
		if changes.wait(ctx, done); ctx.Err() != nil {
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
