// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"io"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/text"
)

// address is where an application answers on this machine.
type address struct {
	Application   string `json:"application"`
	ApplicationID string `json:"application_id"`
	URL           string `json:"url"`
	Detail        string `json:"detail"`
}

// localAddresses asks for the addresses of the applications whose cluster runs pods as processes of this machine. It
// opens nothing: their Services answer all the time. An application that cannot be reached yet has none.
func localAddresses(ctx context.Context, s *session.Session) []address {
	local := map[string]bool{}
	for _, cluster := range s.State.Environment().GetClusters() {
		local[cluster.GetName()] = cluster.GetLocalPods()
	}
	addresses := []address{}
	for _, app := range s.State.Applications() {
		if len(app.GetDeployTargets()) == 0 {
			continue
		}
		if _, target, _ := strings.Cut(app.GetDeployTargets()[0], "/"); !local[target] {
			continue
		}
		opened, err := s.Deck.OpenApplication(ctx, &deckv1.OpenApplicationRequest{ApplicationId: app.GetId()})
		if err != nil {
			continue
		}
		addresses = append(addresses, address{app.GetName(), app.GetId(), opened.GetUrl(), opened.GetDetail()})
	}
	return addresses
}

func printAddresses(w io.Writer, addresses []address) error {
	if len(addresses) == 0 {
		return nil
	}
	var rows [][]string
	for _, a := range addresses {
		rows = append(rows, []string{a.Application, text.Line(a.URL), text.Line(a.Detail)})
	}
	fmt.Fprintln(w)
	return format.Table(w, []string{"APPLICATION", "ADDRESS", "ANSWERS"}, rows)
}
