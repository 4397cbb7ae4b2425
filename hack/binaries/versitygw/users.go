package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/versity/versitygw/auth"
)

// How long a user is known without another look at the folder, and how often those that are known no longer are cleared.
const (
	usersTTL   = 2 * time.Minute
	usersPrune = time.Hour
)

// users is the folder of users behind upstream's cache.
//
// Invariant: no name in the cache lies in the memory of a request. Upstream (1.8.0) keeps the name by which a request asked, and the next request
// of that connection writes over it: a user is then found by the name of another one, whose signature does not hold with their secret.
type users struct {
	auth.IAMService
}

func newUsers(root auth.Account, folder string) (auth.IAMService, error) {
	stored, err := auth.NewInternal(root, folder)
	if err != nil {
		return nil, fmt.Errorf("init users: %w", err)
	}
	return users{IAMService: auth.NewCache(stored, usersTTL, usersPrune)}, nil
}

func (u users) GetUserAccount(access string) (auth.Account, error) {
	return u.IAMService.GetUserAccount(strings.Clone(access))
}

func (u users) ResolveAccounts(accesses []string) ([]string, error) {
	own := make([]string, len(accesses))
	for i, access := range accesses {
		own[i] = strings.Clone(access)
	}
	return u.IAMService.ResolveAccounts(own)
}

func (u users) UpdateUserAccount(access string, props auth.MutableProps) error {
	return u.IAMService.UpdateUserAccount(strings.Clone(access), props)
}
