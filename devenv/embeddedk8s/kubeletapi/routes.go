// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

const (
	// simulatedKey is the annotation of a pod that runs no process.
	simulatedKey = "pipedeck.dev/simulated"

	simulatedLog = "This pod is simulated: no container runs, so there are no logs. " + whatRuns + ".\n"
	simulatedUse = "this pod is simulated: no container runs, so there is nothing to exec into, attach to or " +
		"forward a port to; "
	whatRuns = "Images that pipedeck builds, and those of --local-image, run as processes of this machine; " +
		"all others need a cluster with containers, for example one created by kind"

	// streamIdle ends a connection on which nothing was sent for long; streamStart bounds how long a client may take to
	// open its streams. Both are the kubelet's.
	streamIdle  = 4 * time.Hour
	streamStart = remotecommand.DefaultStreamCreationTimeout
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", s.serveLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", s.insideOf(s.serveExec))
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", s.insideOf(s.serveAttach))
	mux.HandleFunc("/portForward/{namespace}/{pod}", s.servePortForward)
	return mux
}

// pod finds the pod of a request; it has answered when the pod is nil.
func (s *Server) pod(w http.ResponseWriter, r *http.Request) *corev1.Pod {
	pod, err := s.config.Pods.Pods(r.PathValue("namespace")).Get(r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return nil
	}
	return pod
}

// simulated reports whether a pod runs no process.
func (s *Server) simulated(pod *corev1.Pod) bool {
	return s.config.Containers == nil || pod.Annotations[simulatedKey] == "true"
}

// serveInside answers a request about a container that runs.
type serveInside func(http.ResponseWriter, *http.Request, *corev1.Pod, Inside)

// insideOf answers a request about a container that does not run, and leaves the others to serve.
func (s *Server) insideOf(serve serveInside) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pod := s.pod(w, r)
		if pod == nil {
			return
		}
		if s.simulated(pod) {
			http.Error(w, simulatedUse+whatRuns, http.StatusNotImplemented)
			return
		}
		inside, err := s.config.Containers.Inside(pod.UID, r.PathValue("container"))
		if err != nil {
			problem := fmt.Sprintf("container %q of pod %q does not run: %v", r.PathValue("container"), pod.Name, err)
			http.Error(w, problem, http.StatusBadRequest)
			return
		}
		serve(w, r, pod, inside)
	}
}

func (s *Server) serveExec(w http.ResponseWriter, r *http.Request, _ *corev1.Pod, inside Inside) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	argv := r.URL.Query()["command"]
	if len(argv) == 0 {
		http.Error(w, "there is no command", http.StatusBadRequest)
		return
	}
	w, r, end := untilDisconnected(w, r)
	defer end()
	remotecommand.ServeExec(w, r, executor{inside}, "", "", "", argv, options, streamIdle, streamStart,
		remotecommand.SupportedStreamingProtocols)
}

func (s *Server) serveAttach(w http.ResponseWriter, r *http.Request, pod *corev1.Pod, inside Inside) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	output, err := s.config.Containers.Output(pod.UID, r.PathValue("container"), false)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w, r, end := untilDisconnected(w, r)
	defer end()
	remotecommand.ServeAttach(w, r, attacher{inside, output}, "", "", "", options, streamIdle, streamStart,
		remotecommand.SupportedStreamingProtocols)
}

func (s *Server) servePortForward(w http.ResponseWriter, r *http.Request) {
	pod := s.pod(w, r)
	if pod == nil {
		return
	}
	if s.simulated(pod) {
		http.Error(w, simulatedUse+whatRuns, http.StatusNotImplemented)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w, r, end := untilDisconnected(w, r)
	defer end()
	portforward.ServePortForward(w, r, forwarder{s.config.Addresses, pod}, pod.Name, string(pod.UID), options,
		streamIdle, streamStart, portforward.SupportedProtocols)
}
