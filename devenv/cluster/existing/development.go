// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// developmentNames are the contexts that tools for local clusters make. A name counts when it is
// one of these, or begins with one and a dash.
var developmentNames = []string{
	"kind", "k3d", "minikube", "docker-desktop", "docker-for-desktop", "rancher-desktop", "orbstack", "colima",
	"microk8s",
	"podman", "pipedeck",
}

// hostNames are names by which a machine reaches itself, or the machine it is a guest of.
var hostNames = []string{"localhost", "docker.internal", "lima.internal", "orb.local"}

// Check refuses a context that does not look like a cluster for development: both its name and
// the place of its API server must. The *cluster.HintError says what was looked at.
func (c *Context) Check() error {
	var against []string
	if knownName(c.Name) == "" {
		against = append(against, "its name is not like those of "+strings.Join(developmentNames, ", "))
	}
	if reason := remote(c.Server); reason != "" {
		against = append(against, reason)
	}
	if proxy := c.config.Clusters[c.config.Contexts[c.Name].Cluster].ProxyURL; proxy != "" {
		against = append(against, "it is reached through a proxy")
	}
	if len(against) == 0 {
		return nil
	}
	return &cluster.HintError{
		Err: fmt.Errorf("context %q does not look like a cluster for development: %s", c.Name,
			strings.Join(against, "; ")),
		Hint: "choose another with --context, or add --yes if applications shall be deployed to this one",
	}
}

// knownName returns what the name says of the tool that made it, or "".
func knownName(name string) string {
	for _, known := range developmentNames {
		if name == known || strings.HasPrefix(name, known+"-") {
			return known
		}
	}
	return ""
}

// remote says why a server is not near, or "". Names are not looked up: a check must not depend on
// the network.
func remote(server string) string {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	u, err := url.Parse(server)
	if err != nil {
		return "the address of its API server cannot be read"
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	for _, known := range hostNames {
		if host == known || strings.HasSuffix(host, "."+known) {
			return ""
		}
	}
	if address, err := netip.ParseAddr(host); err == nil {
		address = address.Unmap()
		if address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() || address.IsUnspecified() {
			return ""
		}
	}
	return fmt.Sprintf("its API server %s is neither on this machine nor in a private network", host)
}
