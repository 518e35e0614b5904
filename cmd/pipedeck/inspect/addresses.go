// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
)

// addressTimeout bounds the question for addresses: a cluster that hangs must not keep the rest of a status back.
const addressTimeout = 4 * time.Second

// parallelAddresses bounds how many applications are asked for at the same time.
const parallelAddresses = 8

// localAddresses asks for the addresses of the applications whose cluster runs pods as processes of this machine. It
// opens nothing: their Services answer all the time. An application that cannot be reached has none.
func localAddresses(ctx context.Context, s *session.Session) []document.Address {
	ctx, cancel := context.WithTimeout(ctx, addressTimeout)
	defer cancel()
	local := map[string]bool{}
	for _, cluster := range s.State.Environment().GetClusters() {
		local[cluster.GetName()] = cluster.GetLocalPods()
	}
	apps := slices.DeleteFunc(slices.Clone(s.State.Applications()), func(app *deckv1.Application) bool {
		if len(app.GetDeployTargets()) == 0 {
			return true
		}
		_, target, _ := strings.Cut(app.GetDeployTargets()[0], "/")
		return !local[target]
	})
	found := make([]*document.Address, len(apps))
	var asking errgroup.Group
	asking.SetLimit(parallelAddresses)
	for i, app := range apps {
		asking.Go(func() error {
			opened, err := s.Deck.OpenApplication(ctx, &deckv1.OpenApplicationRequest{ApplicationId: app.GetId()})
			if err == nil {
				found[i] = &document.Address{
					App: app.GetName(), AppID: app.GetId(), URL: opened.GetUrl(), Detail: opened.GetDetail(),
				}
			}
			return nil
		})
	}
	_ = asking.Wait() // an application without an address is left out
	addresses := []document.Address{}
	for _, one := range found {
		if one != nil {
			addresses = append(addresses, *one)
		}
	}
	return addresses
}

func printAddresses(w io.Writer, addresses []document.Address, output *format.Output) error {
	if len(addresses) == 0 {
		return nil
	}
	var rows [][]string
	for _, a := range addresses {
		rows = append(rows, []string{a.App, a.URL, a.Detail})
	}
	fmt.Fprintln(w)
	return output.Table(w, format.Table{Columns: []format.Column{
		{Head: "APPLICATION", Yield: 1, Least: 8}, {Head: "ADDRESS"}, {Head: "ANSWERS", Yield: 2, Least: 8, Drop: 1},
	}, Rows: rows})
}
