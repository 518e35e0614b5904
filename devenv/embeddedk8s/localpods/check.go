// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kubeprobe "k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
)

var (
	httpProber = httpprobe.New(false)
	tcpProber  = tcpprobe.New()
	grpcProber = grpcprobe.New()
)

// check is the check that a probe asks for, on the addresses that the container has on this machine.
func (c *container) check(spec *corev1.Probe) func(context.Context) string {
	timeout := (&probe{spec: spec}).timeout()
	switch {
	case spec.HTTPGet != nil:
		return func(ctx context.Context) string {
			request, err := c.httpRequest(spec.HTTPGet, "probe")
			if err != nil {
				return err.Error()
			}
			return problem(probeHTTP(request.WithContext(ctx), timeout))
		}
	case spec.TCPSocket != nil:
		return func(context.Context) string {
			host, port, err := c.target(spec.TCPSocket.Host, spec.TCPSocket.Port)
			if err != nil {
				return err.Error()
			}
			return problem(tcpProber.Probe(host, port, timeout))
		}
	case spec.GRPC != nil:
		service := ""
		if spec.GRPC.Service != nil {
			service = *spec.GRPC.Service
		}
		return func(context.Context) string {
			port, err := c.pod.places.find(spec.GRPC.Port)
			if err != nil {
				return err.Error()
			}
			return problem(grpcProber.Probe(nodeAddress, service, port, timeout))
		}
	case spec.Exec != nil:
		inside := c.inside()
		return func(ctx context.Context) string {
			if output, err := inside.run(ctx, spec.Exec.Command); err != nil {
				return strings.TrimSpace(fmt.Sprintf("%v: %s", err, output))
			}
			return ""
		}
	}
	return func(context.Context) string { return "the probe has no check" }
}

// problem is empty for a check that passes.
func problem(result kubeprobe.Result, output string, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case result == kubeprobe.Success || result == kubeprobe.Warning:
		return ""
	}
	return output
}

// target is where a port of the container answers, unless the manifest names another host. The error says so when no
// process of the pod listens there.
func (c *container) target(host string, of intstr.IntOrString) (string, int, error) {
	port, err := kubeprobe.ResolveContainerPort(of, c.spec)
	if err != nil || host != "" {
		return host, port, err
	}
	number, err := c.pod.places.find(int32(port))
	return nodeAddress, number, err
}

// httpRequest is the request of a probe or a hook.
func (c *container) httpRequest(action *corev1.HTTPGetAction, purpose string) (*http.Request, error) {
	host, port, err := c.target(action.Host, action.Port)
	if err != nil {
		return nil, err
	}
	here := *action
	here.Host, here.Port = host, intstr.FromInt(port)
	return httpprobe.NewRequestForHTTPGetAction(&here, c.spec, host, purpose)
}
